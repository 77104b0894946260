package authorize

import (
	"context"
	"mime"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/login"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/password"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Post sends the browser on to the same request as a GET. It does nothing else and so needs no protection against
// other sites; it cannot do more, because a post from another site comes without our cookies.
func (e *Endpoint) Post(w http.ResponseWriter, r *http.Request) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return refusal.New(http.StatusUnsupportedMediaType, oauth.InvalidRequest, "the body must be application/x-www-form-urlencoded")
	}
	body, err := httpx.ReadBody(r)
	if err != nil {
		return page.BodyError(err)
	}
	if len(body) > query.MaxSize {
		return refusal.New(http.StatusRequestEntityTooLarge, refusal.TooLarge, "the request is too large")
	}
	all := string(body)
	if r.URL.RawQuery != "" {
		all = r.URL.RawQuery + "&" + all
	}
	p, err := query.Parse(all)
	if err != nil {
		return err
	}
	page.Redirect(w, r, e.Site.Base+page.AuthorizePath+"?"+p.Encode())
	return nil
}

// Get answers an authorization request: with the login page, the consent page, or the client's redirect address. Only
// the last can write to the store, for somebody who is signed in.
//
// The login page is the answer itself and posts the sealed request to /login; the consent page is the answer to that
// post, and posts to /consent. So neither the sealed request nor anything else of ours is ever in an address, where
// logs and histories keep it; reload and back work, since each page can be made anew from the one before.
func (e *Endpoint) Get(w http.ResponseWriter, r *http.Request) error {
	p, err := query.Parse(r.URL.RawQuery)
	if err != nil {
		return err
	}
	p, pushedID, err := e.Pushed.Open(r.Context(), p)
	if err != nil {
		return page.InLanguage(err, e.Pages.Language(r, p.Locales()))
	}
	client, err := e.identifyClient(r.Context(), p)
	if err != nil {
		return page.InLanguage(err, e.Pages.Language(r, p.Locales()))
	}
	to := page.Callback{URI: p.Get("redirect_uri"), Fragment: e.inFragment(client, p.Get("response_type"))}
	if p.Count("state") == 1 {
		to.State = p.Get("state")
	}
	q, want, err := e.checkRequest(p, client)
	if err != nil {
		return page.SendBack(to, err)
	}
	q.Pushed = pushedID
	if err := e.readHint(r.Context(), p, q); err != nil {
		return err
	}
	return e.answer(w, r, q, client, want, loginHint(p))
}

// answer answers a request that was checked: with the login page, which has username filled in, or by going on for the
// user who is signed in.
func (e *Endpoint) answer(w http.ResponseWriter, r *http.Request, q *Request, client *oauth.Client, want prompt, username string) error {
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	b, err := e.Welcome(w, r)
	if err != nil {
		return err
	}
	if q.Pushed != "" {
		q.ID = pushedAt(q.Pushed, b)
	}
	who, err := e.SignedIn(r)
	if err != nil {
		return err
	}
	p := inProgress{e, w, r, b, q, client, want.none}
	switch {
	case who != nil && !want.login && p.Allows(who):
		return p.Continue(who)
	case want.none:
		return q.refuse(oauth.LoginRequired, "the user is not signed in")
	}
	return p.showLogin(username)
}

// loginHint prefills the user name, without a look at the directory.
func loginHint(p query.Params) string {
	if h := p.Get("login_hint"); password.ValidUsername(h) {
		return h
	}
	return ""
}

// CheckPushed makes all checks of the authorization endpoint for a request that is pushed. They
// are made again when the request is used. Refusals are [oauth.Error]; other errors are technical.
func (e *Endpoint) CheckPushed(ctx context.Context, p query.Params) error {
	client, err := e.identifyClient(ctx, p)
	if err != nil {
		return err
	}
	q, _, err := e.checkRequest(p, client)
	if err != nil {
		return err
	}
	return e.readHint(ctx, p, q)
}

// inProgress is an authorization request at browser b, with its client as it is now.
type inProgress struct {
	*Endpoint
	w      http.ResponseWriter
	r      *http.Request
	b      session.Browser
	q      *Request
	client *oauth.Client
	quiet  bool // prompt=none: no page may be shown
}

// Resume implements [login.Requests].
func (e *Endpoint) Resume(w http.ResponseWriter, r *http.Request, b session.Browser, sealed string) (login.Request, error) {
	return e.resume(w, r, b, sealed)
}

// resume opens a request that a form of browser b sent back.
func (e *Endpoint) resume(w http.ResponseWriter, r *http.Request, b session.Browser, sealed string) (inProgress, error) {
	q, err := e.open(b, sealed)
	if err != nil {
		return inProgress{}, err
	}
	client, err := e.recheckRequest(r.Context(), q)
	return inProgress{e, w, r, b, q, client, false}, err
}

func (p inProgress) showLogin(username string) error {
	sealed, err := p.q.seal(p.b)
	if err != nil {
		return err
	}
	v := p.LoginView()
	v.Sealed, v.Username = sealed, username
	return p.ShowLogin(p.w, p.r, p.b, v)
}

func (p inProgress) ClientID() string { return p.q.Client }

func (p inProgress) LoginView() login.View {
	return login.View{Title: p.client.Title(), Unverified: p.client.SelfRegistered, Locales: p.q.Locales}
}

func (p inProgress) Allows(who *session.SignedIn) bool {
	return p.q.allowsUser(who.User.ID, who.Session.AuthTime)
}

func (p inProgress) ShowAgain() error {
	who, err := p.SignedIn(p.r)
	if err != nil {
		return err
	}
	if who == nil || !p.Allows(who) {
		return p.showLogin("")
	}
	return p.Continue(who)
}
