package oauthguard

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/handler"
)

// describeResource makes the metadata of the guarded resource (RFC 9728), if its audience is a
// URL: refused clients find the authorization server there. Hidden scopes are left out.
func (g *Guard) describeResource(policy *guard.Config) {
	var scopes []string
	for _, r := range policy.Rules {
		for _, s := range r.Scopes {
			if !policy.Hidden(s) {
				scopes = append(scopes, s)
			}
		}
	}
	if m, ok := guard.NewResourceMetadata(policy.Audience, policy.Issuer, scopes); ok && (!g.DecisionOnly || policy.Audience == policy.Issuer) {
		g.resource, policy.MetadataURL = m, m.URL
	}
	if policy.Audience == policy.Issuer {
		g.app.AddOwnResource(scopes)
	}
}

// asksForMetadata reports whether a request is one for the metadata.
func (g *Guard) asksForMetadata(r *http.Request) bool {
	return !g.DecisionOnly && g.resource.Answers(r)
}

// publishMetadata answers a request for the metadata. It needs no token, and scripts of every
// origin may read it.
func (g *Guard) publishMetadata(w http.ResponseWriter, r *http.Request) {
	m := g.resource
	if g.policy.Audience != g.policy.Issuer { // whose metadata names addresses of another site
		m = m.For(r)
	}
	handler.PublishResource(w, r, m)
}
