package authserver

import (
	"context"
	"mime"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// authorizePost sends the browser on to the same request as a GET. It does nothing
// else and so needs no protection against other sites; it cannot do more, because a
// post from another site comes without our cookies.
func (s *signIn) authorizePost(w http.ResponseWriter, r *http.Request) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return page.BodyError(&httpx.FormError{Status: http.StatusUnsupportedMediaType, Reason: "the body must be application/x-www-form-urlencoded"})
	}
	body, err := httpx.ReadBody(r)
	if err != nil {
		return page.BodyError(err)
	}
	if len(body) > query.MaxSize {
		return page.BodyError(&httpx.FormError{Status: http.StatusRequestEntityTooLarge, Reason: "the request is too large"})
	}
	all := string(body)
	if r.URL.RawQuery != "" {
		all = r.URL.RawQuery + "&" + all
	}
	p, refused := query.Parse(all)
	if refused != nil {
		return refused
	}
	page.Redirect(w, r, s.base+"/authorize?"+p.Encode())
	return nil
}

// authorizeGet answers an authorization request: with the login page, the consent
// page, or the client's redirect address. Only the last can write to the store, for
// somebody who is signed in.
//
// The login page is the answer itself and posts the sealed request to /login; the
// consent page is the answer to that post, and posts to /consent. So neither the
// sealed request nor anything else of ours is ever in an address, where logs and
// histories keep it; reload and back work, since each page can be made anew from the
// one before.
func (s *signIn) authorizeGet(w http.ResponseWriter, r *http.Request) error {
	p, refused := query.Parse(r.URL.RawQuery)
	if refused != nil {
		return refused
	}
	p, pushed, err := s.par.Open(r.Context(), p)
	if err != nil {
		return page.InLanguage(err, s.Pages.Language(r, locales(p)))
	}
	client, err := s.identify(r.Context(), p)
	if err != nil {
		return page.InLanguage(err, s.Pages.Language(r, locales(p)))
	}
	to := page.Callback{URI: p.Get("redirect_uri"), Fragment: s.inFragment(p.Get("response_type"))}
	if p.Count("state") == 1 {
		to.State = p.Get("state")
	}
	q, want, fault := s.check(p, client)
	if fault != nil {
		return page.SendBack(to, fault)
	}
	q.Pushed = pushed
	if err := s.readHint(r.Context(), p, q); err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	b, err := s.welcome(w, r)
	if err != nil {
		return err
	}
	who, err := s.whoIs(r)
	if err != nil {
		return err
	}
	if who == nil || want.login || !q.fits(who.user.ID, who.session.AuthTime) {
		if want.none {
			return q.refuse(oauth.LoginRequired, "the user is not signed in")
		}
		return s.showLogin(w, r, b, loginPage{request: q, client: client, username: hint(p)})
	}
	return s.proceed(w, r, b, q, client, who, want.none)
}

// checkPushed makes all checks of the authorization endpoint, for a request that is pushed.
func (s *signIn) checkPushed(ctx context.Context, p query.Params) error {
	client, err := s.identify(ctx, p)
	if err != nil {
		return err
	}
	q, _, err := s.check(p, client)
	if err != nil {
		return err
	}
	return s.readHint(ctx, p, q)
}

// identify finds the client and checks the redirect address. Until both are good
// there is nobody to send an error to: a redirect would make us an open redirector.
// A missing client_id and an unknown one read alike.
func (s *signIn) identify(ctx context.Context, p query.Params) (*oauth.Client, error) {
	if p.Count("client_id") > 1 || p.Count("redirect_uri") > 1 {
		return nil, oauth.E(oauth.InvalidRequest, "client_id or redirect_uri is repeated")
	}
	return s.known(ctx, store.DialectOAuth, p.Get("client_id"), p.Get("redirect_uri"))
}

// known finds the client that speaks this dialect. One of the other is as unknown as one
// that is not there, but that its developer is told.
func (s *signIn) known(ctx context.Context, dialect store.Dialect, id, redirectURI string) (*oauth.Client, error) {
	sent := func(v *webui.ErrorView) { v.Sent = redirectURI }
	unknown := page.WithView(refusal.New(http.StatusBadRequest, refusal.UnknownClient, "client_id is missing or unknown: compare it with the ids of the clients of this issuer"), sent)
	if id == "" {
		return nil, unknown
	}
	client, ok, err := s.Clients.Client(ctx, id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, unknown
	}
	switch variantB := dialect == store.DialectVariantB; {
	case client.VariantB && !variantB:
		return nil, refusal.New(http.StatusBadRequest, refusal.UnknownClient, "this client is one of Variant B and begins at /connect/qrconnect or /connect/oauth2/authorize")
	case !client.VariantB && variantB:
		return nil, refusal.New(http.StatusBadRequest, refusal.UnknownClient, "this client is none of Variant B and begins at /authorize")
	}
	if redirectURI == "" || !client.MatchesRedirect(redirectURI) {
		return nil, page.WithView(oauth.E(oauth.InvalidRedirectURI, "redirect_uri must be given and be exactly one that is registered for this client"), sent)
	}
	return client, nil
}

// standing asks again what a reload of the configuration may have changed since the
// request was sealed.
func (s *signIn) standing(ctx context.Context, q *request) (*oauth.Client, error) {
	client, err := s.known(ctx, q.dialect(), q.Client, q.RedirectURI)
	switch {
	case err != nil:
		return nil, err
	case q.Created.Before(client.Since):
		// The page named another client, of the same id, which was deleted since.
		return nil, refusal.New(http.StatusBadRequest, refusal.Expired, "")
	case !oauth.Subset(q.Scopes, client.Scopes) && !oauth.Subset(q.Scopes, client.DefaultScopes):
		return nil, q.refuse(oauth.InvalidScope, "a scope is no longer allowed for this client")
	}
	if q.variantB() {
		return client, nil
	}
	if refused := s.responds(client, q.responseType()); refused != nil {
		return nil, page.SendBack(q.callback(), refused)
	}
	return client, nil
}

// proceed goes on for somebody who is signed in: to the consent page if an answer is
// needed, else back to the client with a code.
func (s *signIn) proceed(w http.ResponseWriter, r *http.Request, b browser, q *request, client *oauth.Client, who *person, quiet bool) error {
	switch {
	case who.user.Locked:
		return q.refuse(oauth.AccessDenied, "the user may not sign in")
	case q.Hint != "" && q.Hint != who.user.ID:
		// Core section 3.1.2.2: no positive answer for anybody but the one hinted at.
		return q.refuse(oauth.LoginRequired, "another user signed in than id_token_hint names")
	}
	pair, err := ending.PairEpoch(r.Context(), s.Store, q.Client, who.user.ID) // before the permission
	if err != nil {
		return err
	}
	given, err := s.consented(r.Context(), q, client, who.user.ID, pair)
	switch {
	case err != nil:
		return err
	case given:
		return s.grant(w, r, b, q, client, who, pair)
	case quiet:
		return q.refuse(oauth.ConsentRequired, "the user has not allowed this")
	}
	return s.showConsent(w, r, b, q, client, who, pair)
}

// takeCode counts a code or implicit token of a user: each is two records, and a consent
// that is remembered lets a client ask in a loop.
func (s *signIn) takeCode(subject string) error {
	return s.take("code:"+subject, lockout.Rule{Limit: s.Protect.CodesPerUser, Window: time.Minute})
}

// grant gives the client what it asked for. pair is the epoch of client and user as it was
// before the permission was looked at.
func (s *signIn) grant(w http.ResponseWriter, r *http.Request, b browser, q *request, client *oauth.Client, who *person, pair int64) error {
	if err := s.takeCode(who.user.ID); err != nil {
		if q.variantB() {
			return err
		}
		return q.refuse(oauth.TemporarilyUnavailable, "too many authorizations of this user within a minute, try again later")
	}
	epochs := store.Epochs{Subject: who.session.Epoch, Pair: pair}
	if client.SelfRegistered && s.Registrar != nil {
		if err := s.Registrar.Used(r.Context(), client.ID); err != nil {
			return err
		}
	}
	if q.Pushed != "" {
		if err := s.par.Spend(r.Context(), q.Pushed, q.Created, secret.Digest(string(q.code(b.keys, who.user.ID)))); err != nil {
			return err
		}
	}
	if q.Implicit {
		return s.grantToken(w, r, b, q, client, who, epochs)
	}
	return s.grantCode(w, r, b, q, who, epochs)
}

// hint prefills the user name, without a look at the directory.
func hint(p query.Params) string {
	if h := p.Get("login_hint"); validUsername(h) {
		return h
	}
	return ""
}
