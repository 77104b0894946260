package authserver

import (
	"log/slog"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/webui"
)

// logoutGet shows who is signed in and asks; a link alone signs nobody out. A client that
// brings an id_token of this session has been with the user, and need not ask.
func (s *signIn) logoutGet(w http.ResponseWriter, r *http.Request) error {
	p, refused := query.Parse(r.URL.RawQuery)
	if refused != nil {
		p = nil // nobody who wants to sign out is to be kept by what nobody can read
	}
	q, err := s.readEndSession(r.Context(), p)
	if err != nil {
		return err
	}
	b, err := s.welcome(w, r)
	if err != nil {
		return err
	}
	who, err := s.whoIs(r)
	switch {
	case err != nil:
		return err
	case who == nil:
		return s.wayOut(w, r, q)
	case q.speaksFor(who):
		return s.signOut(w, r, q, who.user.ID)
	}
	sealed, err := q.sealed(b)
	if err != nil {
		return err
	}
	s.Pages.Logout(w, http.StatusOK, webui.LogoutView{
		Form: webui.Form{
			Lang: s.Pages.Language(r, q.Locales), Action: s.base + "/logout", Token: b.token("logout", ""), Request: sealed,
		},
		User: who.user.Username, Client: q.title(), Account: s.base + page.AccountPath,
	})
	return nil
}

// logoutPost takes the user's answer, or sends a client's request on as a GET.
func (s *signIn) logoutPost(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if query := relayed(form); query != "" {
		page.Redirect(w, r, s.base+"/logout?"+query)
		return nil
	}
	b, err := s.sender(r)
	if err != nil {
		return err
	}
	if !b.checkToken(form.Get("token"), "logout", "") {
		return errForbidden
	}
	q, err := s.resumeEndSession(r.Context(), b, form.Get("request"))
	if err != nil {
		return err
	}
	v, _, _, err := s.session(r)
	if err != nil {
		return err
	}
	return s.signOut(w, r, q, v.Subject)
}

// signOut ends the session in the store first: a cookie that somebody copied is worth
// nothing from then on. If the store is away the user is told so.
func (s *signIn) signOut(w http.ResponseWriter, r *http.Request, q *endSession, subject string) error {
	if err := s.end(r); err != nil {
		return err
	}
	s.setCookie(w, s.sessionCookie(), "", -1)
	s.Log.Info("signed out", slog.String("address", s.ClientIP(r)))
	if subject != "" { // else there was no session any more
		s.Audit.Record(r.Context(), audit.Event{Name: audit.SignOut, Subject: subject, Client: q.Client})
	}
	return s.wayOut(w, r, q)
}

// wayOut sends the browser back to the client, or says that it is done.
func (s *signIn) wayOut(w http.ResponseWriter, r *http.Request, q *endSession) error {
	switch {
	case q.To != "" && q.State != "":
		page.Redirect(w, r, query.AppendTo(q.To, "state", q.State))
	case q.To != "":
		page.Redirect(w, r, q.To)
	default:
		s.Pages.Logout(w, http.StatusOK, webui.LogoutView{
			Form: webui.Form{Lang: s.Pages.Language(r, q.Locales)}, Done: true, Client: q.title(), Account: s.base + page.AccountPath,
		})
	}
	return nil
}
