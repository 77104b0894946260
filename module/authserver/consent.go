package authserver

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/webui"
)

// begin is the first step of a checked request: sign in, unless somebody is.
func (s *signIn) begin(w http.ResponseWriter, r *http.Request, client *oauth.Client, req request) {
	session, ok, err := s.session(r)
	if err != nil {
		s.unavailable(w, r, err)
		return
	}
	if ok && !s.stale(req, session) {
		s.proceed(w, r, client, req, session)
		return
	}
	if slices.Contains(req.Prompt, "none") {
		s.refuse(w, r, req, oauth.E(oauth.LoginRequired, "nobody is signed in, and prompt is none"))
		return
	}
	s.loginPage(w, r, http.StatusOK, &req, webui.LoginView{})
}

// stale reports whether a session does not do for a request that wants a recent
// sign-in (OpenID Connect Core section 3.1.2.1, prompt and max_age).
func (s *signIn) stale(req request, session browserSession) bool {
	if slices.Contains(req.Prompt, "login") && session.AuthTime.Before(req.Created) {
		return true
	}
	return req.MaxAge != nil && s.Now().Sub(session.AuthTime) > time.Duration(*req.MaxAge)*time.Second
}

// proceed is the step behind the sign-in: ask for consent, unless it was given.
func (s *signIn) proceed(w http.ResponseWriter, r *http.Request, client *oauth.Client, req request, session browserSession) {
	user, ok := s.user(w, r, req, session)
	if !ok {
		return
	}
	given, err := s.consented(r.Context(), client, req, user.ID)
	switch {
	case err != nil:
		s.unavailable(w, r, err)
	case given:
		s.issue(w, r, req, session)
	case slices.Contains(req.Prompt, "none"):
		s.refuse(w, r, req, oauth.E(oauth.ConsentRequired, "the user has not allowed this, and prompt is none"))
	default:
		s.consentPage(w, r, client, req, session, user)
	}
}

// user looks the user up anew at every step: a lock takes effect at once. When there
// is none to go on with, it has answered.
func (s *signIn) user(w http.ResponseWriter, r *http.Request, req request, session browserSession) (directory.User, bool) {
	user, ok, err := s.Directory.Lookup(r.Context(), session.Subject)
	switch {
	case err != nil:
		s.unavailable(w, r, err)
	case !ok || user.Locked:
		s.refuse(w, r, req, oauth.E(oauth.AccessDenied, "the user may not sign in"))
	default:
		return user, true
	}
	return directory.User{}, false
}

// consented reports whether the user need not be asked.
func (s *signIn) consented(ctx context.Context, client *oauth.Client, req request, subject string) (bool, error) {
	if slices.Contains(req.Prompt, "consent") {
		return false, nil
	}
	if client.Trusted {
		return true, nil
	}
	if !client.RemembersConsent(req.RedirectURI) {
		return false, nil
	}
	_, given, err := s.readConsent(ctx, client.ID, subject)
	return err == nil && given.Covers(req.Scopes), err
}

// consentKey is where a user's consent to a client is kept.
func consentKey(client, subject string) store.Key {
	return store.Key{Kind: store.KindConsent, ID: secret.Digest(client + "\x00" + subject)}
}

// readConsent reads what a user has allowed a client; nothing when there is no record.
func (s *signIn) readConsent(ctx context.Context, client, subject string) (store.Record, store.Consent, error) {
	record, err := s.Store.Get(ctx, consentKey(client, subject))
	if errors.Is(err, store.ErrNotFound) {
		return store.Record{}, store.Consent{}, nil
	}
	if err != nil {
		return store.Record{}, store.Consent{}, err
	}
	var given store.Consent
	err = store.Decode(record.Value, &given)
	return record, given, err
}

func (s *signIn) consentPage(w http.ResponseWriter, r *http.Request, client *oauth.Client, req request, session browserSession, user directory.User) {
	browser := s.browser(w, r)
	sealed, err := s.seal(r.Context(), atConsent, req, browser, session.id)
	if err != nil {
		s.unavailable(w, r, err)
		return
	}
	lang := s.Pages.Language(r, req.Locales)
	form, err := s.form(r.Context(), lang, browser, "/consent", sealed)
	if err != nil {
		s.unavailable(w, r, err)
		return
	}
	v := webui.ConsentView{
		Form: form, Client: client.Title(), Host: host(req.RedirectURI), User: user.Username,
		Remember: client.RemembersConsent(req.RedirectURI),
	}
	for _, name := range req.Scopes {
		v.Scopes = append(v.Scopes, webui.ScopeView{Name: name, Text: s.scopeText(name, lang)})
	}
	s.Pages.Consent(w, http.StatusOK, v)
}

func (s *Server) scopeText(name, lang string) string {
	for _, declared := range s.Scopes {
		if declared.Name == name {
			if text := declared.Text[lang]; text != "" {
				return text
			}
			return declared.Text["en"]
		}
	}
	return ""
}

// host is where the browser goes, as a person can judge it.
func host(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	if err != nil {
		return ""
	}
	if u.Host == "" {
		return u.Scheme + ":"
	}
	return u.Host
}

// consent takes the answer of the consent page. A GET only leads away.
func (s *signIn) consent(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.errorPage(w, r, http.StatusBadRequest, webui.ErrorView{Code: "invalid_request", Detail: "the consent page belongs to a sign-in and has no address of its own"})
		return
	}
	f, err := httpx.ReadForm(r)
	if err != nil {
		s.badForm(w, r, err)
		return
	}
	browser, _ := s.known(r)
	ours, err := s.ours(r, browser, f.Get("token"))
	if err != nil {
		s.unavailable(w, r, err)
		return
	}
	session, signedIn, err := s.session(r)
	switch {
	case err != nil:
		s.unavailable(w, r, err)
		return
	case browser == "" || !ours || !signedIn:
		s.errorPage(w, r, http.StatusForbidden, webui.ErrorView{Code: "forbidden"})
		return
	}
	req, ok := s.resume(w, r, atConsent, f.Get("request"), browser, session.id)
	if !ok {
		return
	}
	client, ok := s.client(w, r, req)
	if !ok {
		return
	}
	switch f.Get("decision") {
	case "allow":
		s.allow(w, r, client, req, session)
	case "deny":
		s.refuse(w, r, req, oauth.E(oauth.AccessDenied, "the user denied the request"))
	default:
		s.errorPage(w, r, http.StatusBadRequest, webui.ErrorView{Code: "invalid_request", Detail: "decision must be allow or deny", Retry: s.again(req)})
	}
}

func (s *signIn) allow(w http.ResponseWriter, r *http.Request, client *oauth.Client, req request, session browserSession) {
	if _, ok := s.user(w, r, req, session); !ok {
		return
	}
	if client.RemembersConsent(req.RedirectURI) {
		if err := s.remember(r.Context(), client.ID, session.Subject, req.Scopes); err != nil {
			s.unavailable(w, r, err)
			return
		}
	}
	s.issue(w, r, req, session)
}

// remember adds scopes to what the user has allowed the client.
func (s *signIn) remember(ctx context.Context, client, subject string, scopes []string) error {
	for {
		record, given, err := s.readConsent(ctx, client, subject)
		if err != nil {
			return err
		}
		for _, scope := range scopes {
			if !slices.Contains(given.Scopes, scope) {
				given.Scopes = append(given.Scopes, scope)
			}
		}
		given.Client, given.Subject, given.GivenAt = client, subject, s.Now()
		fresh := record.Version == 0
		record.Key, record.Parent = consentKey(client, subject), subject
		if record.Value, err = store.Encode(&given); err != nil {
			return err
		}
		if fresh {
			_, err = s.Store.Create(ctx, record)
		} else {
			_, err = s.Store.Swap(ctx, record)
		}
		// Another tab of the same user was faster: its answer is merged.
		if errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue
		}
		return err
	}
}
