package authorize

import (
	"context"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// identifyClient finds the client and checks the redirect address. Until both are good there is nobody to send an
// error to: a redirect would make us an open redirector. A missing client_id and an unknown one read alike.
func (e *Endpoint) identifyClient(ctx context.Context, p query.Params) (*oauth.Client, error) {
	if p.Count("client_id") > 1 || p.Count("redirect_uri") > 1 {
		return nil, oauth.E(oauth.InvalidRequest, "client_id or redirect_uri is repeated")
	}
	return e.findClient(ctx, store.DialectOAuth, p.Get("client_id"), p.Get("redirect_uri"))
}

// findClient finds the client that speaks this dialect. A client of the other dialect is reported
// as unknown, with a hint for its developer.
func (e *Endpoint) findClient(ctx context.Context, dialect store.Dialect, id, redirectURI string) (*oauth.Client, error) {
	sent := func(v *webui.ErrorView) { v.Sent = redirectURI }
	unknown := func(text string) error { return refusal.New(http.StatusBadRequest, refusal.UnknownClient, text) }
	missing := page.WithView(unknown("client_id is missing or unknown: compare it with the ids of the clients of this issuer"), sent)
	if id == "" {
		return nil, missing
	}
	client, ok, err := e.Clients.Client(ctx, id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, missing
	}
	switch variantB := dialect == store.DialectVariantB; {
	case client.VariantB && !variantB:
		return nil, unknown("this client is one of Variant B and begins at /connect/qrconnect or /connect/oauth2/authorize")
	case !client.VariantB && variantB:
		return nil, unknown("this client is none of Variant B and begins at /authorize")
	}
	if redirectURI == "" || !client.MatchesRedirect(redirectURI) {
		return nil, page.WithView(oauth.E(oauth.InvalidRedirectURI, "redirect_uri must be given and be exactly one that is registered for this client"), sent)
	}
	return client, nil
}

// recheckRequest validates a sealed request again, because a reload of the configuration may have changed its client.
func (e *Endpoint) recheckRequest(ctx context.Context, q *Request) (*oauth.Client, error) {
	client, err := e.findClient(ctx, q.dialect(), q.Client, q.RedirectURI)
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
	if err := e.checkResponseType(client, q.responseType()); err != nil {
		return nil, page.SendBack(q.callback(), err)
	}
	return client, nil
}
