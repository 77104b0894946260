package authserver

import (
	"errors"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/webui"
)

// login is the sign-in page by itself, and where the form of every sign-in page posts.
func (s *signIn) login(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.loginPage(w, r, http.StatusOK, nil, webui.LoginView{})
		return
	}
	f, err := httpx.ReadForm(r)
	if err != nil {
		s.badForm(w, r, err)
		return
	}
	browser, _ := s.known(r)
	ours, err := s.ours(r, browser, f.Get("token"))
	switch {
	case err != nil:
		s.unavailable(w, r, err)
		return
	case browser == "" || !ours:
		s.errorPage(w, r, http.StatusForbidden, webui.ErrorView{Code: "forbidden"})
		return
	}
	var req *request
	if sealed := f.Get("request"); sealed != "" {
		opened, ok := s.resume(w, r, atLogin, sealed, browser)
		if !ok {
			return
		}
		req = &opened
	}
	s.signInWith(w, r, req, f.Get("username"), f.Get("password"))
}

// resume opens a sealed request that a form brought back. When it cannot go on, it has
// answered.
func (s *signIn) resume(w http.ResponseWriter, r *http.Request, use, sealed string, bound ...string) (request, bool) {
	req, ok, err := s.open(r.Context(), use, sealed, bound...)
	switch {
	case err != nil:
		s.unavailable(w, r, err)
	case !ok:
		s.errorPage(w, r, http.StatusForbidden, webui.ErrorView{Code: "forbidden"})
	case s.Now().Sub(req.Created) >= s.Lifetimes.Request:
		s.errorPage(w, r, http.StatusBadRequest, webui.ErrorView{Code: "expired", Retry: s.again(req)})
	default:
		return req, true
	}
	return request{}, false
}

func (s *signIn) signInWith(w http.ResponseWriter, r *http.Request, req *request, username, password string) {
	if !checkCredentials(username, password) {
		s.errorPage(w, r, http.StatusBadRequest, webui.ErrorView{Code: "invalid_request", Detail: "the user name or password is too long or contains a NUL character"})
		return
	}
	user, outcome, wait, err := s.attempt(r, username, password)
	s.Metrics.SignIn(outcome)
	switch {
	case errors.Is(err, errBusy):
		retryAfter(w, 2)
		s.errorPage(w, r, http.StatusServiceUnavailable, webui.ErrorView{Code: "unavailable"})
		return
	case err != nil:
		s.unavailable(w, r, err)
		return
	case outcome == limited:
		retryAfter(w, int(wait.Seconds())+1)
		s.loginPage(w, r, http.StatusTooManyRequests, req, webui.LoginView{Limited: true})
		return
	case outcome != signedIn:
		// 200: the form again. 401 would promise an authentication scheme in a header.
		s.loginPage(w, r, http.StatusOK, req, webui.LoginView{Failed: true, Username: username})
		return
	}
	session, err := s.newSession(w, r, user.ID)
	if err != nil {
		s.unavailable(w, r, err)
		return
	}
	s.Log.Info("signed in", "subject", user.ID)
	if req == nil {
		w.Header().Set("Location", s.base+"/logout") // says who is signed in
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	client, ok := s.client(w, r, *req)
	if ok {
		s.proceed(w, r, client, *req, session)
	}
}

// client finds the client of a request anew: a reload may have removed it, or the
// address its answer goes to, since the request began.
func (s *signIn) client(w http.ResponseWriter, r *http.Request, req request) (*oauth.Client, bool) {
	client, ok, err := s.Clients.Client(r.Context(), req.Client)
	switch {
	case err != nil:
		s.unavailable(w, r, err)
	case !ok:
		s.errorPage(w, r, http.StatusBadRequest, webui.ErrorView{Code: "unknown_client"})
	case !client.MatchesRedirect(req.RedirectURI):
		s.errorPage(w, r, http.StatusBadRequest, webui.ErrorView{Code: "invalid_redirect_uri"})
	default:
		return client, true
	}
	return nil, false
}

// loginPage shows the form; req is nil outside of a request.
func (s *signIn) loginPage(w http.ResponseWriter, r *http.Request, status int, req *request, v webui.LoginView) {
	browser := s.browser(w, r)
	locales, sealed := "", ""
	if req != nil {
		var err error
		if sealed, err = s.seal(r.Context(), atLogin, *req, browser); err != nil {
			s.unavailable(w, r, err)
			return
		}
		locales = req.Locales
		if v.Username == "" {
			v.Username = req.Hint
		}
		if client, ok, err := s.Clients.Client(r.Context(), req.Client); err == nil && ok {
			v.Client = client.Title()
		}
	}
	form, err := s.form(r.Context(), s.Pages.Language(r, locales), browser, "/login", sealed)
	if err != nil {
		s.unavailable(w, r, err)
		return
	}
	v.Form = form
	s.Pages.Login(w, status, v)
}
