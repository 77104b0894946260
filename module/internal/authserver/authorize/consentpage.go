package authorize

import (
	"log/slog"
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/consent"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const actionConsent = "consent" // of the form's token

// showConsent asks the user. pair is the epoch of client and user at this moment.
func (e *Endpoint) showConsent(w http.ResponseWriter, r *http.Request, b session.Browser, q *Request, client *oauth.Client, who *session.SignedIn, pair int64) error {
	q.Shown, q.Pair = consent.PageOf(client, q.RedirectURI), pair
	sealed, err := q.seal(b)
	if err != nil {
		return err
	}
	given, err := e.Consents.Given(r.Context(), q.Client, who.User.ID)
	if err != nil {
		return err
	}
	var before []string
	if consent.Stands(given, client, pair) {
		before = given.On(q.Shown)
	}
	lang := e.Pages.Language(r, q.Locales)
	v := webui.ConsentView{
		Form: webui.Form{
			Lang: lang, Action: e.Site.Base + page.ConsentPath, Request: sealed,
			Token: b.Token(actionConsent, who.User.ID),
		},
		ClientID: client.ID,
		Client:   client.Title(),
		Host:     page.Destination(q.RedirectURI),
		User:     who.User.Username, Name: page.DisplayName(who.User),
		Remember: client.RemembersConsent(q.RedirectURI),
		Account:  e.Site.Base + page.AccountPath, Unverified: client.SelfRegistered,
	}
	for _, name := range q.Scopes {
		view := e.ScopeTexts.View(name, lang)
		view.New = len(before) > 0 && !slices.Contains(before, name)
		v.Scopes = append(v.Scopes, view)
	}
	slices.SortStableFunc(v.Scopes, func(a, b webui.ScopeView) int { // the new ones first
		switch {
		case a.New == b.New:
			return 0
		case a.New:
			return -1
		}
		return 1
	})
	e.Pages.Consent(w, http.StatusOK, v)
	return nil
}

// GetConsent never answers with anything but an error: there is no address whose mere visit
// grants something. A browser that restores its tabs comes here.
func (e *Endpoint) GetConsent(http.ResponseWriter, *http.Request) error {
	return refusal.New(http.StatusBadRequest, refusal.Expired, "")
}

// PostConsent takes the answer. The form's token names the user who saw the page: if somebody
// else has signed in at this browser since, the answer is not theirs. A user who is no longer
// signed in signs in again and is then asked again.
func (e *Endpoint) PostConsent(w http.ResponseWriter, r *http.Request) error {
	b, form, err := e.ReceiveForm(r)
	if err != nil {
		return err
	}
	q, client, err := e.resume(r.Context(), b, form.Get("request"))
	if err != nil {
		return err
	}
	who, ok, err := e.Current(r)
	if err != nil {
		return err
	}
	subject := who.Session.Subject
	if !ok || !q.allowsUser(subject, who.Session.AuthTime) {
		return e.showLogin(w, r, b, q, client, "")
	}
	if !b.CheckToken(form.Get("token"), actionConsent, subject) {
		return refusal.Forbid()
	}
	switch form.Get("decision") {
	case "allow":
	case "switch": // another person: the session here ends when they have signed in
		q.AuthAfter = e.Now()
		return e.showLogin(w, r, b, q, client, "")
	case "deny":
		e.Log.Info("consent denied", slog.String("client", q.Client), slog.String("subject", subject))
		e.Audit.Record(r.Context(), audit.Event{Name: audit.ConsentDenied, Client: q.Client, Subject: subject, Scopes: q.Scopes})
		return q.refuse(oauth.AccessDenied, "the user did not allow this")
	default:
		return oauth.E(oauth.InvalidRequest, "decision must be allow, deny or switch")
	}
	return e.allow(w, r, b, q, client, &who)
}

// allow remembers the consent and gives the client what it asked for. who is without its user
// yet.
func (e *Endpoint) allow(w http.ResponseWriter, r *http.Request, b session.Browser, q *Request, client *oauth.Client, who *session.SignedIn) error {
	user, ok, err := e.Directory.Lookup(r.Context(), who.Session.Subject)
	if err != nil {
		return err
	}
	if !ok || user.Locked {
		return q.refuse(oauth.AccessDenied, "the user may not sign in")
	}
	who.User = user
	pair, err := ending.PairEpoch(r.Context(), e.Store, q.Client, user.ID) // before the permission
	if err != nil {
		return err
	}
	// If the client changed while the page was open, or the user withdrew what it was allowed, an
	// old form that is sent again must not allow it anew.
	if q.Shown != consent.PageOf(client, q.RedirectURI) || q.Pair != pair {
		return e.showConsent(w, r, b, q, client, who, pair)
	}
	if client.RemembersConsent(q.RedirectURI) {
		if err := e.Consents.Remember(r.Context(), client, q.RedirectURI, q.Scopes, user.ID, pair); err != nil {
			return err
		}
	}
	e.Audit.Record(r.Context(), audit.Event{Name: audit.Consent, Client: q.Client, Subject: user.ID, Scopes: q.Scopes})
	return e.grant(w, r, b, q, client, who, pair)
}
