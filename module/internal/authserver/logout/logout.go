package logout

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/internal/webui"
)

const (
	actionLogout = "logout"    // of the form's token
	nameTimeout  = time.Second // how long the page waits for the user's name
)

// Endpoint answers /logout. All fields are needed.
type Endpoint struct {
	*session.Sessions
	// ReadHint returns the content of an id_token that this issuer made, expired or not. Refusals match
	// [token.ErrInvalid].
	ReadHint func(ctx context.Context, raw string) (token.ID, error)
	// FormLife is how long a page may lie open and still lead back to the client.
	FormLife time.Duration
}

// Get shows who is signed in and asks; a link alone signs nobody out. A client that brings an
// id_token of this session has been with the user, and need not ask. The session decides, not the
// directory: a user it does not know may be back in a moment, and is asked like any other.
func (e *Endpoint) Get(w http.ResponseWriter, r *http.Request) error {
	p, err := query.Parse(r.URL.RawQuery)
	if err != nil {
		p = nil // an unreadable query must not keep anybody from signing out
	}
	q, err := e.readRequest(r.Context(), p)
	if err != nil {
		return err
	}
	b, err := e.Welcome(w, r)
	if err != nil {
		return err
	}
	who, signedIn, err := e.Current(r)
	switch {
	case err != nil:
		return err
	case !signedIn:
		if err := e.ConfirmEnd(r); err != nil {
			return err
		}
		return e.leave(w, r, q)
	case q.speaksFor(who):
		return e.signOut(w, r, q, who.Session.Subject)
	}
	sealed, err := q.seal(b)
	if err != nil {
		return err
	}
	e.Pages.Logout(w, http.StatusOK, webui.LogoutView{
		Form: webui.Form{
			Lang: e.Pages.Language(r, q.Locales), Action: e.Site.Base + page.LogoutPath, Token: b.Token(actionLogout, ""), Request: sealed,
		},
		User: e.username(r, who.Session.Subject), Client: q.title(), Unverified: q.client != nil && q.client.SelfRegistered, Account: e.Site.Base + page.AccountPath,
	})
	return nil
}

// username is the name on the page, "" if the directory does not know the user or does not answer: nobody has to
// stay signed in for want of a name.
func (e *Endpoint) username(r *http.Request, subject string) string {
	ctx, cancel := context.WithTimeout(r.Context(), nameTimeout)
	defer cancel()
	user, _, err := e.Directory.Lookup(ctx, subject)
	if err != nil && r.Context().Err() == nil {
		e.Log.Warn("sign-out page without the user's name", slog.String("request_id", e.RequestID(r)), slog.Any("cause", err))
	}
	return user.Username
}

// Post takes the user's answer, or sends a client's request on as a GET.
func (e *Endpoint) Post(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if encoded := clientRequest(form); encoded != "" {
		page.Redirect(w, r, e.Site.Base+page.LogoutPath+"?"+encoded)
		return nil
	}
	b, err := e.FormSender(r)
	if err != nil {
		return err
	}
	if !b.CheckToken(form.Get("token"), actionLogout, "") {
		return refusal.Forbid()
	}
	q, err := e.openRequest(r.Context(), b, form.Get("request"))
	if err != nil {
		return err
	}
	who, _, err := e.Current(r)
	if err != nil {
		return err
	}
	return e.signOut(w, r, q, who.Session.Subject)
}

// signOut ends the session in the store first: a cookie that somebody copied is worth nothing
// from then on. If the store is away the user is told so.
func (e *Endpoint) signOut(w http.ResponseWriter, r *http.Request, q *request, subject string) error {
	if err := e.Delete(r); err != nil {
		return err
	}
	e.Forget(w)
	e.Log.Info("signed out", slog.String("address", e.ClientIP(r)))
	if subject != "" { // else there was no session any more
		e.Audit.Record(r.Context(), audit.Event{Name: audit.SignOut, Subject: subject, Client: q.Client})
	}
	return e.leave(w, r, q)
}

// leave sends the browser back to the client, or says that it is done.
func (e *Endpoint) leave(w http.ResponseWriter, r *http.Request, q *request) error {
	switch {
	case q.To != "" && q.State != "":
		page.Redirect(w, r, query.AppendTo(q.To, "state", q.State))
	case q.To != "":
		page.Redirect(w, r, q.To)
	default:
		e.Pages.Logout(w, http.StatusOK, webui.LogoutView{
			Form: webui.Form{Lang: e.Pages.Language(r, q.Locales)}, Done: true, Client: q.title(), Account: e.Site.Base + page.AccountPath,
		})
	}
	return nil
}
