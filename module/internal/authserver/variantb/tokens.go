package variantb

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// tokenAnswer is the response of both token endpoints. Libraries do not work without scope and
// unionid.
type tokenAnswer struct {
	AccessToken  string `json:"access_token"`
	ExpiresIn    int64  `json:"expires_in"` // seconds
	RefreshToken string `json:"refresh_token,omitempty"`
	OpenID       string `json:"openid"`
	Scope        string `json:"scope"` // separated by commas
	UnionID      string `json:"unionid"`
}

// metric is the label of a grant type of this dialect.
func metric(g oauth.GrantType) string { return "variantb_" + string(g) }

// AccessToken is /sns/oauth2/access_token, which exchanges a code for tokens.
func (e *Endpoints) AccessToken(w http.ResponseWriter, r *http.Request) {
	e.serve(w, r, oauth.AuthorizationCode, e.redeemCode)
}

// RefreshToken is /sns/oauth2/refresh_token. The refresh token stays the same, and existing access tokens stay valid.
func (e *Endpoints) RefreshToken(w http.ResponseWriter, r *http.Request) {
	e.serve(w, r, oauth.RefreshToken, e.refreshTokens)
}

func (e *Endpoints) serve(w http.ResponseWriter, r *http.Request, g oauth.GrantType, do func(*http.Request) (tokenAnswer, error)) {
	answer, err := do(r)
	if err != nil {
		e.Count(metric(g), e.writeError(w, r, err))
		return
	}
	e.Count(metric(g), "issued")
	writeJSON(w, http.StatusOK, jsonType, answer)
}

func (e *Endpoints) redeemCode(r *http.Request) (tokenAnswer, error) {
	form, err := readParams(r, "appid", "secret", "grant_type", "code", "redirect_uri", "code_verifier")
	if err == nil {
		err = checkGrantForm(form, oauth.AuthorizationCode, noCode, noAppID, noSecret)
	}
	if err != nil {
		return tokenAnswer{}, err
	}
	client, err := e.ClientAuth.App(r, form.Get("appid"), form.Get("secret"))
	if err != nil {
		return tokenAnswer{}, err
	}
	pending, err := e.Grants.Code(r.Context(), e.grantRequest(r, client, form))
	if err != nil {
		return tokenAnswer{}, withNumber(err, codeFailures, badCode)
	}
	answer, err := e.issueTokens(r, client, pending, oauth.AuthorizationCode)
	return answer, withNumber(err, codeFailures, badCode)
}

// refreshTokens asks for no secret, because libraries send none. Nor would a secret distinguish the
// site from somebody who has its refresh tokens.
func (e *Endpoints) refreshTokens(r *http.Request) (tokenAnswer, error) {
	form, err := readParams(r, "appid", "grant_type", "refresh_token")
	if err == nil {
		err = checkGrantForm(form, oauth.RefreshToken, noRefreshToken, noAppID)
	}
	if err != nil {
		return tokenAnswer{}, err
	}
	client, err := e.findApp(r.Context(), form.Get("appid"))
	if err != nil {
		return tokenAnswer{}, err
	}
	pending, err := e.Grants.Refresh(r.Context(), e.grantRequest(r, client, form))
	if err != nil {
		return tokenAnswer{}, withNumber(err, refreshFailures, badRefreshToken)
	}
	answer, err := e.issueTokens(r, client, pending, oauth.RefreshToken)
	return answer, withNumber(err, refreshFailures, badRefreshToken)
}

// checkGrantForm checks the parameters that identify the client, then grant_type, and then the one
// that is presented.
func checkGrantForm(form httpx.Form, want oauth.GrantType, nothingPresented *fault, noClient ...*fault) error {
	if err := requireParams(form, noClient...); err != nil {
		return err
	}
	if form.Get("grant_type") != string(want) {
		return refuse(badGrantType)
	}
	return requireParams(form, nothingPresented)
}

func (e *Endpoints) grantRequest(r *http.Request, c *oauth.Client, form httpx.Form) grant.Request {
	return grant.Request{Client: c, Form: form, Address: e.ClientIP(r)}
}

// issueTokens names the user, signs, and only then uses up what was presented, so that no fault before that costs
// the user a new sign-in. A library that repeats a failed exchange finds its code unchanged.
func (e *Endpoints) issueTokens(r *http.Request, c *oauth.Client, p grant.Pending, g oauth.GrantType) (tokenAnswer, error) {
	ctx := r.Context()
	openid, err := e.Names.openID(ctx, c.ID, p.Subject)
	if err != nil {
		return tokenAnswer{}, oauth.Unavailable(err)
	}
	unionid, err := e.Names.unionID(ctx, c, p.Subject)
	if err != nil {
		return tokenAnswer{}, oauth.Unavailable(err)
	}
	now, life := e.Now().Truncate(time.Second), e.Access.Truncate(time.Second)
	access, err := e.Issue(ctx, token.Access{
		Subject: p.Subject, Pairwise: openid, Audience: e.Audience(c), Client: c.ID,
		Scopes: p.Scopes, Grant: p.Family, Epochs: p.Epochs, IssuedAt: token.SecondsOf(now), Expires: now.Add(life),
	})
	if err != nil {
		return tokenAnswer{}, oauth.Unavailable(err)
	}
	refresh, err := p.Commit(ctx)
	if err != nil {
		return tokenAnswer{}, err
	}
	e.Audit.Record(ctx, audit.Event{
		Name: audit.Issue, Client: c.ID, Subject: p.Subject, Grant: p.Family, Scopes: p.Scopes, Reason: string(g),
	})
	return tokenAnswer{
		AccessToken: access, ExpiresIn: int64(life / time.Second), RefreshToken: refresh,
		OpenID: openid, Scope: strings.Join(p.Scopes, ","), UnionID: unionid,
	}, nil
}

var codeFailures = map[grant.Why]*fault{
	grant.Expired: expiredCode, grant.Used: usedCode, grant.Redirect: badRedirect, grant.Verifier: badVerifier,
}

var refreshFailures = map[grant.Why]*fault{grant.Expired: expiredRefreshToken}

// withNumber assigns the dialect's number to the reason of a refusal. A code of another client
// is reported like one that never existed.
func withNumber(err error, numbers map[grant.Why]*fault, otherwise *fault) error {
	refused, words := (*grant.Refusal)(nil), (*oauth.Error)(nil)
	switch {
	case err != nil && !errors.As(err, &words) && !errors.As(err, new(*refusal)):
		return oauth.Unavailable(err)
	case !errors.As(err, &refused):
		return err
	}
	if f, ok := numbers[refused.Why]; ok {
		otherwise = f
	}
	return &refusal{fault: otherwise, cause: words.Cause}
}
