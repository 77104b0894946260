package gateway

import (
	"bytes"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/handler"
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
	policy.Hidden = g.app.hidden
	if m, ok := guard.NewResourceMetadata(policy.Audience, policy.Issuer, scopes); ok && (!g.DecisionOnly || policy.Audience == policy.Issuer) {
		g.resource, policy.MetadataURL = m, m.URL
	}
	if policy.Audience == policy.Issuer {
		g.app.ownResource.add(policy.Issuer, scopes)
	}
}

// publish answers a request for the metadata, and reports whether it was one. Whoever
// asks has no token yet, and scripts of every origin may.
func (g *Guard) publish(w http.ResponseWriter, r *http.Request) bool {
	if g.DecisionOnly || !g.resource.Answers(r) {
		return false
	}
	m := g.resource
	if g.policy.Audience != g.policy.Issuer { // whose addresses are those of another site
		m = m.For(r)
	}
	publishResource(w, r, m)
	return true
}

// publishResource answers with the metadata of a resource, or a preflight for it: browsers send
// one because client libraries add header fields of their own.
func publishResource(w http.ResponseWriter, r *http.Request, m guard.ResourceMetadata) {
	handler.LeaveBody(w, r)
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, HEAD")
		h.Set("Access-Control-Allow-Headers", "*")
		h.Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", m.ETag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(m.JSON))
}

// ownResource is the issuer as a protected resource, for guards whose audience it is: the
// address in their challenges is the issuer's, wherever their sites are.
type ownResource struct {
	mu       sync.Mutex // of scopes
	scopes   []string
	metadata atomic.Pointer[guard.ResourceMetadata] // nil: no guard has this audience
}

// add makes it known, with the scopes of one guard.
func (o *ownResource) add(issuer string, scopes []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scopes = append(o.scopes, scopes...)
	if m, ok := guard.NewResourceMetadata(issuer, issuer, o.scopes); ok {
		o.metadata.Store(&m)
	}
}

// asked reports whether a request asks for the metadata at the address that challenges name.
// No handler behind oauth_server may answer there: it says where clients get their tokens.
func (o *ownResource) asked(r *http.Request) bool {
	m := o.metadata.Load()
	return m != nil && r.URL.Path == m.Path && m.Answers(r)
}

// publish answers a request to the issuer for it, and reports whether it was one.
func (o *ownResource) publish(w http.ResponseWriter, r *http.Request) bool {
	m := o.metadata.Load()
	if m == nil || !m.Answers(r) {
		return false
	}
	publishResource(w, r, *m)
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
