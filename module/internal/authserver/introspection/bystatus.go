package introspection

import (
	"context"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// serveByStatus answers a gateway that asks about each of its requests and reads only status and headers, such as
// nginx with auth_request. It decides what a guard would decide (RFC 6750 section 3.1): 200 and who calls, 401, or
// 403.
//
// Such a gateway forwards whatever it was sent, so wrong tokens are not limited: 429 would be an internal error
// there, for everybody who shares the gateway. The verifier's cache of refused tokens bounds what they cost.
func (t *Endpoint) serveByStatus(w http.ResponseWriter, r *http.Request, c *oauth.Client, form httpx.Form) {
	access, err := t.admittedToken(r.Context(), c, form)
	if err != nil {
		t.refuseByStatus(w, r, c, form.Get("scope"), err)
		return
	}
	answer := describeAccess(access)
	h := w.Header()
	h.Set(httpx.SubjectHeader, httpx.EncodeHeaderValue(answer.Subject))
	h.Set(httpx.ClientHeader, httpx.EncodeHeaderValue(answer.Client))
	h.Set(httpx.ScopesHeader, httpx.EncodeHeaderList(access.Scopes))
	t.Count("active")
	t.Respond.WriteJSON(w, http.StatusOK, answer)
}

// refuseByStatus answers with the challenge that the gateway forwards to its own client, so the realm is the
// audience, like a guard's.
func (t *Endpoint) refuseByStatus(w http.ResponseWriter, r *http.Request, c *oauth.Client, scope string, err error) {
	e := oauthhttp.AnswerTo(r, err)
	outcome := string(e.Code)
	if e.Code == oauth.InvalidToken {
		outcome = "inactive"
	}
	t.Count(outcome)
	if e.Code == oauth.InvalidToken || e.Code == oauth.InsufficientScope {
		oauthhttp.SetChallenge(w.Header(), e, t.Audiences.Of(c)[0], scope)
	}
	t.Respond.WriteError(w, r, e)
}

// admittedToken returns the access token if it may be used at the client's API and has all the scopes that the
// gateway asks for. Refresh tokens may not be used there, nor tokens of the client itself that are for another
// audience.
func (t *Endpoint) admittedToken(ctx context.Context, c *oauth.Client, form httpx.Form) (*token.Access, error) {
	needed, ok := oauth.ParseScopes(form.Get("scope"))
	switch {
	case !ok:
		return nil, oauth.Parameter("scope", "is malformed or too long")
	case len(needed) == 0 && (form.Blank("scope") || form.Get("scope") != ""):
		// A variable that the gateway forgot to set must not admit tokens without the scope.
		return nil, oauth.Parameter("scope", "is empty: leave it out if no scope is needed")
	case form.Get("token") == "":
		return nil, oauthhttp.ErrNoToken
	}
	access, _, err := t.liveAccessToken(ctx, form.Get("token"), func(a *token.Access) bool { return t.meantFor(c, a) })
	switch {
	case err != nil:
		return nil, err
	case access == nil:
		return nil, oauth.E(oauth.InvalidToken, "the access token is invalid, expired or revoked")
	case !oauth.Subset(needed, access.Scopes):
		return nil, oauth.E(oauth.InsufficientScope, "the access token lacks the scope that is needed")
	}
	return access, nil
}
