package gateway

import (
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/handler"
)

// ownResource is the metadata of the issuer as a protected resource (RFC 9728), for guards whose
// audience it is: their challenges name the issuer's address, whatever site they protect.
type ownResource struct {
	mu       sync.Mutex // of scopes
	scopes   []string
	metadata atomic.Pointer[guard.ResourceMetadata] // nil: no guard has this audience
}

// add publishes it with the scopes of one more guard.
func (o *ownResource) add(issuer string, scopes []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scopes = append(o.scopes, scopes...)
	if m, ok := guard.NewResourceMetadata(issuer, issuer, o.scopes); ok {
		o.metadata.Store(&m)
	}
}

// asked reports whether a request is for the metadata at the address that challenges name. No
// handler behind oauth_server may answer there: the metadata says where clients get tokens.
func (o *ownResource) asked(r *http.Request) bool {
	m := o.metadata.Load()
	return m != nil && r.URL.Path == m.Path && m.Answers(r)
}

// publish answers a request for the metadata, and reports whether it was one.
func (o *ownResource) publish(w http.ResponseWriter, r *http.Request) bool {
	m := o.metadata.Load()
	if m == nil || !m.Answers(r) {
		return false
	}
	handler.PublishResource(w, r, *m)
	return true
}
