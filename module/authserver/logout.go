package authserver

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/webui"
)

// logout says who is signed in and ends the session when asked to by a post.
func (s *signIn) logout(w http.ResponseWriter, r *http.Request) {
	browser, lang := s.browser(w, r), s.Pages.Language(r, "")
	if r.Method == http.MethodGet {
		s.logoutPage(w, r, browser, lang)
		return
	}
	f, err := httpx.ReadForm(r)
	if err != nil {
		s.badForm(w, r, err)
		return
	}
	ours, err := s.ours(r, browser, f.Get("token"))
	switch {
	case err != nil:
		s.unavailable(w, r, err)
		return
	case !ours:
		s.errorPage(w, r, http.StatusForbidden, webui.ErrorView{Code: "forbidden"})
		return
	}
	if err := s.endSession(r.Context(), r); err != nil {
		s.unavailable(w, r, err)
		return
	}
	s.setCookie(w, s.cookieName(""), "", -1)
	s.Pages.Logout(w, http.StatusOK, webui.LogoutView{Form: webui.Form{Lang: lang}, Done: true})
}

func (s *signIn) logoutPage(w http.ResponseWriter, r *http.Request, browser, lang string) {
	session, ok, err := s.session(r)
	if err != nil {
		s.unavailable(w, r, err)
		return
	}
	if !ok {
		s.Pages.Logout(w, http.StatusOK, webui.LogoutView{Form: webui.Form{Lang: lang}, Done: true})
		return
	}
	user, _, err := s.Directory.Lookup(r.Context(), session.Subject)
	if err != nil {
		s.unavailable(w, r, err)
		return
	}
	form, err := s.form(r.Context(), lang, browser, "/logout", "")
	if err != nil {
		s.unavailable(w, r, err)
		return
	}
	s.Pages.Logout(w, http.StatusOK, webui.LogoutView{Form: form, User: user.Username})
}
