package oauthguard

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/handler"
)

// describeResource makes the metadata of the guarded resource (RFC 9728), if its audience is an
// address: a client that was refused finds the authorization server there. Scopes that
// are hidden elsewhere are hidden here.
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

// publishMetadata answers a request for the metadata, and reports whether it was one. Whoever
// asks has no token yet, and scripts of every origin may.
func (g *Guard) publishMetadata(w http.ResponseWriter, r *http.Request) bool {
	if g.DecisionOnly || !g.resource.Answers(r) {
		return false
	}
	m := g.resource
	if g.policy.Audience != g.policy.Issuer { // whose addresses are those of another site
		m = m.For(r)
	}
	handler.PublishResource(w, r, m)
	return true
}
