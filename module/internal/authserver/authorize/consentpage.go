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
func (p inProgress) showConsent(who *session.SignedIn, pair int64) error {
	p.q.Shown, p.q.Pair = consent.PageOf(p.client, p.q.RedirectURI), pair
	sealed, err := p.q.seal(p.b)
	if err != nil {
		return err
	}
	given, err := p.Consents.Given(p.r.Context(), p.q.Client, who.User.ID)
	if err != nil {
		return err
	}
	var before []string
	if consent.Stands(given, p.client, pair) {
		before = given.On(p.q.Shown)
	}
	lang := p.Pages.Language(p.r, p.q.Locales)
	v := webui.ConsentView{
		Form: webui.Form{
			Lang: lang, Action: p.Site.Base + page.ConsentPath, Request: sealed,
			Token: p.b.Token(actionConsent, who.User.ID),
		},
		ClientID: p.client.ID,
		Client:   p.client.Title(),
		Host:     page.Destination(p.q.RedirectURI),
		User:     who.User.Username, Name: page.DisplayName(who.User),
		Remember: p.client.RemembersConsent(p.q.RedirectURI),
		Account:  p.Site.Base + page.AccountPath, Unverified: p.client.SelfRegistered,
	}
	for _, name := range p.q.Scopes {
		view := p.ScopeTexts.View(name, lang)
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
	p.Pages.Consent(p.w, http.StatusOK, v)
	return nil
}

// GetConsent always answers with an error: no address grants something merely by being visited. Browsers that restore
// their tabs come here.
func (e *Endpoint) GetConsent(http.ResponseWriter, *http.Request) error {
	return refusal.New(http.StatusBadRequest, refusal.Expired, "")
}

// PostConsent takes the decision. The form's token names the user who saw the page: if another user has signed in at
// this browser since, the decision does not count. A user who is no longer signed in signs in and is asked again.
func (e *Endpoint) PostConsent(w http.ResponseWriter, r *http.Request) error {
	b, form, err := e.ReceiveForm(r)
	if err != nil {
		return err
	}
	p, err := e.resume(w, r, b, form.Get("request"))
	if err != nil {
		return err
	}
	who, ok, err := e.Current(r)
	if err != nil {
		return err
	}
	subject := who.Session.Subject
	if !ok || !p.q.allowsUser(subject, who.Session.AuthTime) {
		return p.showLogin("")
	}
	if !b.CheckToken(form.Get("token"), actionConsent, subject) {
		return refusal.Forbid()
	}
	switch form.Get("decision") {
	case "allow":
	case "switch": // another person: the session here ends when they have signed in
		p.q.AuthAfter = e.Now()
		return p.showLogin("")
	case "deny":
		e.Log.Info("consent denied", slog.String("client", p.q.Client), slog.String("subject", subject))
		e.Audit.Record(r.Context(), audit.Event{Name: audit.ConsentDenied, Client: p.q.Client, Subject: subject, Scopes: p.q.Scopes})
		return p.q.refuse(oauth.AccessDenied, "the user did not allow this")
	default:
		return oauth.E(oauth.InvalidRequest, "decision must be allow, deny or switch")
	}
	return p.allow(&who)
}

// allow remembers the consent and gives the client what it asked for. who is without its user yet.
func (p inProgress) allow(who *session.SignedIn) error {
	user, ok, err := p.Directory.Lookup(p.r.Context(), who.Session.Subject)
	if err != nil {
		return err
	}
	if !ok || user.Locked {
		return p.q.refuse(oauth.AccessDenied, "the user may not sign in")
	}
	who.User = user
	pair, err := ending.PairEpoch(p.r.Context(), p.Store, p.q.Client, user.ID) // before the permission
	if err != nil {
		return err
	}
	// If the client changed while the page was open, or the user withdrew what it was allowed, an
	// old form that is sent again must not allow it anew.
	if p.q.Shown != consent.PageOf(p.client, p.q.RedirectURI) || p.q.Pair != pair {
		return p.showConsent(who, pair)
	}
	if p.client.RemembersConsent(p.q.RedirectURI) {
		if err := p.Consents.Remember(p.r.Context(), p.client, p.q.RedirectURI, p.q.Scopes, user.ID, pair); err != nil {
			return err
		}
	}
	p.Audit.Record(p.r.Context(), audit.Event{Name: audit.Consent, Client: p.q.Client, Subject: user.ID, Scopes: p.q.Scopes})
	return p.grant(who, pair)
}
