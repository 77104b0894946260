package gateway

import (
	"bytes"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/guard"
)

// describe makes the metadata of the guarded resource (RFC 9728), if its audience is an
// address: a client that was refused finds the authorization server there. Scopes that
// are hidden elsewhere are hidden here.
func (g *Guard) describe(policy *guard.Config) {
	var scopes []string
	for _, r := range policy.Rules {
		for _, s := range r.Scopes {
			if !g.app.hidden(s) {
				scopes = append(scopes, s)
			}
		}
	}
	if m, ok := guard.NewResourceMetadata(policy.Audience, policy.Issuer, scopes); ok {
		g.resource, policy.MetadataURL = m, m.URL
	}
}

// publish answers a request for the metadata, and reports whether it was one. Whoever
// asks has no token yet, and scripts of every origin may.
func (g *Guard) publish(w http.ResponseWriter, r *http.Request) bool {
	if !g.resource.Answers(r) {
		return false
	}
	LeaveBody(w, r)
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", g.resource.ETag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(g.resource.JSON))
	return true
}

// hidden reports whether a scope was declared so.
func (a *App) hidden(scope string) bool {
	for _, s := range a.Scopes {
		if s.Name == scope {
			return s.Hidden
		}
	}
	return false
}
