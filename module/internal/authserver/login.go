package authserver

import (
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// loginPage is what the sign-in page is shown for.
type loginPage struct {
	request  *request      // nil outside of an authorization request
	client   *oauth.Client // nil likewise
	next     string        // a path of ours to go to instead, "" for the account page
	sealed   string        // the request or next as it came, "" to seal it now
	username string
	status   int // default 200
	failed   bool
	limited  bool
}

func (s *signIn) showLogin(w http.ResponseWriter, r *http.Request, b browser, p loginPage) error {
	v := webui.LoginView{Username: p.username, Failed: p.failed, Limited: p.limited}
	locales := ""
	if p.next != "" && p.sealed == "" {
		sealed, err := s.sealNext(b, p.next)
		if err != nil {
			return err
		}
		p.sealed = sealed
	}
	if p.request != nil {
		locales = p.request.Locales
		v.Client = p.client.Title()
		if p.sealed == "" {
			sealed, err := p.request.seal(b)
			if err != nil {
				return err
			}
			p.sealed = sealed
		}
	}
	v.Form = webui.Form{
		Lang: s.Pages.Language(r, locales), Action: s.base + "/login",
		Token: b.token("login", ""), Request: p.sealed,
	}
	if p.status == 0 {
		p.status = http.StatusOK
	}
	s.Pages.Login(w, p.status, v)
	return nil
}

// loginGet is a sign-in that no client asked for. It leads to the account page: nothing
// in the address says where to go afterwards, so there is nothing to abuse as an open
// redirector.
func (s *signIn) loginGet(w http.ResponseWriter, r *http.Request) error {
	b, err := s.welcome(w, r)
	if err != nil {
		return err
	}
	who, err := s.whoIs(r)
	if err != nil {
		return err
	}
	if who != nil {
		page.Redirect(w, r, s.base+page.AccountPath)
		return nil
	}
	return s.showLogin(w, r, b, loginPage{})
}

// loginPost signs in and goes on. A refused password is 401, which tells password
// managers not to keep it, for every reason alike. There is no WWW-Authenticate with
// it: no registered scheme means "use the form", and Basic would open the browser's
// own dialogue.
func (s *signIn) loginPost(w http.ResponseWriter, r *http.Request) error {
	b, form, err := s.receive(r)
	if err != nil {
		return err
	}
	if !b.checkToken(form.Get("token"), "login", "") {
		return errForbidden
	}
	p := loginPage{sealed: form.Get("request"), username: form.Get("username")}
	if p.next, err = s.openNext(b, p.sealed); err != nil {
		return err
	}
	if p.sealed != "" && p.next == "" {
		if p.request, err = s.resume(b, p.sealed); err != nil {
			return err
		}
		if p.client, err = s.standing(r.Context(), p.request); err != nil {
			return err
		}
	}
	password := form.Get("password")
	if len(password) > directory.MaxPassword || !validUsername(p.username) {
		return oauth.E(oauth.InvalidRequest, "the user name or the password is too long")
	}
	epoch, err := ending.CurrentEpoch(r.Context(), s.Store) // before the password: see package ending
	if err != nil {
		return err
	}
	a := attempted{username: p.username, password: password, address: s.ClientIP(r), known: s.knownPeople(r, b.keys)}
	a.vouched = vouches(a.known, b.keys, p.username)
	o, err := s.try(r.Context(), a)
	if err != nil {
		s.Metrics.SignIn("error")
		return err
	}
	var who *person
	if o.verdict == accepted {
		if who, err = s.begin(w, r, o.user, epoch); err != nil {
			return err
		}
		if who == nil { // the password may be the one of before
			o.verdict = refused
		} else if err = s.rememberBrowser(w, r, b.keys, p.username, o.user.ID, epoch); err != nil {
			return err
		}
	}
	s.Metrics.SignIn(string(o.verdict))
	if o.verdict != accepted {
		s.Audit.Record(r.Context(), s.failed(r.Context(), p.username, o, clientOf(p.request)))
	}
	address := slog.String("address", s.ClientIP(r))
	switch o.verdict {
	case accepted:
	case limited:
		s.Log.Warn("sign-in limited", address)
		w.Header().Set("Retry-After", strconv.Itoa(oauth.Seconds(o.retry)))
		p.status, p.limited = http.StatusTooManyRequests, true
		return s.showLogin(w, r, b, p)
	default:
		// Without the name: people type their password into that field.
		s.Log.Info("sign-in refused", slog.String("outcome", string(o.verdict)), address)
		p.status, p.failed = http.StatusUnauthorized, true
		return s.showLogin(w, r, b, p)
	}
	s.Log.Info("signed in", slog.String("subject", o.user.ID), address)
	s.Audit.Record(r.Context(), audit.Event{Name: audit.SignIn, Subject: o.user.ID, Client: clientOf(p.request)})
	switch {
	case p.next != "":
		page.Redirect(w, r, p.next)
		return nil
	case p.request == nil:
		page.Redirect(w, r, s.base+page.AccountPath)
		return nil
	}
	return s.proceed(w, r, b, p.request, p.client, who, false)
}

func clientOf(q *request) string {
	if q == nil {
		return ""
	}
	return q.Client
}
