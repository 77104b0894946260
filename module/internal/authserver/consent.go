package authserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// showConsent asks the user. pair is the epoch of client and user at this moment.
func (s *signIn) showConsent(w http.ResponseWriter, r *http.Request, b browser, q *request, client *oauth.Client, who *person, pair int64) error {
	q.Shown, q.Pair = consentPage(client, q.RedirectURI), pair
	sealed, err := q.seal(b)
	if err != nil {
		return err
	}
	given, err := s.given(r.Context(), q.Client, who.user.ID)
	if err != nil {
		return err
	}
	var before []string
	if stands(given, client, pair) {
		before = given.On(q.Shown)
	}
	lang := s.Pages.Language(r, q.Locales)
	v := webui.ConsentView{
		Form: webui.Form{
			Lang: lang, Action: s.base + "/consent", Request: sealed,
			Token: b.token("consent", who.user.ID),
		},
		ClientID: client.ID,
		Client:   client.Title(),
		Host:     page.Destination(q.RedirectURI),
		User:     who.user.Username, Name: page.DisplayName(who.user),
		Remember: client.RemembersConsent(q.RedirectURI),
		Account:  s.base + page.AccountPath, Unverified: client.SelfRegistered,
	}
	for _, name := range q.Scopes {
		view := s.scopeTexts.View(name, lang)
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
	s.Pages.Consent(w, http.StatusOK, v)
	return nil
}

// consentPost takes the answer. The form's token names the user who saw the page: if
// somebody else has signed in at this browser since, the answer is not theirs. Whoever
// is no longer signed in signs in again and is then asked again.
func (s *signIn) consentPost(w http.ResponseWriter, r *http.Request) error {
	b, form, err := s.receive(r)
	if err != nil {
		return err
	}
	q, err := s.resume(b, form.Get("request"))
	if err != nil {
		return err
	}
	client, err := s.standing(r.Context(), q)
	if err != nil {
		return err
	}
	v, rec, ok, err := s.session(r)
	if err != nil {
		return err
	}
	if !ok || !q.fits(v.Subject, v.AuthTime) {
		return s.showLogin(w, r, b, loginPage{request: q, client: client})
	}
	if !b.checkToken(form.Get("token"), "consent", v.Subject) {
		return errForbidden
	}
	switch form.Get("decision") {
	case "allow":
	case "switch": // another person: the session here ends when they have signed in
		q.AuthAfter = s.Now()
		return s.showLogin(w, r, b, loginPage{request: q, client: client})
	case "deny":
		s.Log.Info("consent denied", slog.String("client", q.Client), slog.String("subject", v.Subject))
		s.Audit.Record(r.Context(), audit.Event{Name: audit.ConsentDenied, Client: q.Client, Subject: v.Subject, Scopes: q.Scopes})
		return q.refuse(oauth.AccessDenied, "the user did not allow this")
	default:
		return oauth.E(oauth.InvalidRequest, "decision must be allow, deny or switch")
	}
	user, ok, err := s.Directory.Lookup(r.Context(), v.Subject)
	if err != nil {
		return err
	}
	if !ok || user.Locked {
		return q.refuse(oauth.AccessDenied, "the user may not sign in")
	}
	who := &person{user: user, session: v, digest: rec.ID}
	pair, err := ending.PairEpoch(r.Context(), s.Store, q.Client, user.ID) // before the permission
	if err != nil {
		return err
	}
	// While the page was open the client changed, or the user took back what it was allowed:
	// a form of before, sent again, must not allow it anew.
	if q.Shown != consentPage(client, q.RedirectURI) || q.Pair != pair {
		return s.showConsent(w, r, b, q, client, who, pair)
	}
	if client.RemembersConsent(q.RedirectURI) {
		if err := s.remember(r.Context(), q, client, user.ID, pair); err != nil {
			return err
		}
	}
	s.Audit.Record(r.Context(), audit.Event{Name: audit.Consent, Client: q.Client, Subject: user.ID, Scopes: q.Scopes})
	return s.grant(w, r, b, q, client, who, pair)
}

// consentPage identifies what a page that asks for consent says about a client: its name,
// where the browser goes next, and whether the client gave itself that name. A consent
// holds for this and for nothing else: a client could register under a harmless name, and
// take another name or another host once people have agreed.
func consentPage(client *oauth.Client, redirectURI string) string {
	to := page.Destination(redirectURI)
	if u, err := url.Parse(redirectURI); err == nil && client.Native && u.Scheme == "http" {
		to = u.Hostname() // loopback, where each run of the program has another port
	}
	kind := "configured"
	if client.SelfRegistered {
		kind = "self-registered"
	}
	return secret.Digest(string(boundTo(client.Title(), to, kind)))
}

func consentKey(client, subject string) store.Key {
	return store.Key{Kind: store.KindConsent, ID: secret.Digest(client + "\x00" + subject)}
}

// consented reports whether the user need not be asked. pair is the epoch of client and user:
// a consent of before was taken back, even if it was written later.
func (s *signIn) consented(ctx context.Context, q *request, client *oauth.Client, subject string, pair int64) (bool, error) {
	if client.Trusted {
		return true, nil
	}
	if q.AskAgain || !client.RemembersConsent(q.RedirectURI) {
		return false, nil
	}
	given, err := s.given(ctx, q.Client, subject)
	return err == nil && stands(given, client, pair) && given.Covers(consentPage(client, q.RedirectURI), q.Scopes), err
}

// stands reports whether a consent was neither taken back nor given to another client of the
// same id. pair is the epoch of client and user.
func stands(given store.Consent, client *oauth.Client, pair int64) bool {
	return given.Pair >= pair && !given.GivenAt.Before(client.Since)
}

// given is what the user has allowed the client for good, of nobody and nothing when
// there is no such record.
func (s *signIn) given(ctx context.Context, client, subject string) (store.Consent, error) {
	var v store.Consent
	_, err := store.Read(ctx, s.Store, consentKey(client, subject), &v)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return v, err
}

// remember adds the scopes to what the user has allowed the client on this page. pair is the
// epoch of both before the user allowed it. Two tabs may do so at once: the one that comes
// second reads again. If it never gets its turn the user is merely asked once more another
// time.
func (s *signIn) remember(ctx context.Context, q *request, client *oauth.Client, subject string, pair int64) error {
	key, page := consentKey(q.Client, subject), consentPage(client, q.RedirectURI)
	for range 3 {
		given := store.Consent{Client: q.Client, Subject: subject}
		rec, err := store.Read(ctx, s.Store, key, &given)
		switch {
		case errors.Is(err, store.ErrNotFound):
			rec = store.Record{Key: key, Parent: subject}
		case err != nil:
			return err
		default:
			if given.Pair > pair { // the other one came after an end, or the end's record is gone
				now, err := ending.PairEpoch(ctx, s.Store, q.Client, subject)
				if err != nil || now > pair {
					return err
				}
			}
			// Another client's, of the same id, or one that was taken back.
			if given.GivenAt.Before(client.Since) || given.Pair < pair {
				given.Scopes, given.Pages = nil, nil
			}
			if given.Covers(page, q.Scopes) {
				return nil
			}
		}
		given = given.Allow(page, q.Scopes)
		given.GivenAt, given.Pair = s.Now(), max(given.Pair, pair)
		if rec.Value, err = store.Encode(&given); err != nil {
			return err
		}
		if written, err := store.Put(ctx, s.Store, rec); written || err != nil {
			return err
		}
	}
	return nil
}
