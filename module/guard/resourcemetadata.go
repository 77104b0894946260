package guard

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// wellKnown is where RFC 8615 puts documents about a host.
const wellKnown = "/.well-known/"

// wellKnownResource stands between host and path of a resource (RFC 9728 section 3).
const wellKnownResource = "/.well-known/oauth-protected-resource"

// ResourceMetadata tells a client that knows only the API where to get tokens for it
// (RFC 9728). It is the same for every request.
type ResourceMetadata struct {
	URL        string // of the document, which challenges name
	Path, base string // of URL, and of the resource without a slash at the end
	origin     string // the resource without its path
	document   resourceDocument
	JSON       []byte // the document
	ETag       string // its strong validator, quoted
}

// resourceDocument is the metadata itself (RFC 9728 section 2).
type resourceDocument struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	Scopes               []string `json:"scopes_supported,omitempty"`
	BearerMethods        []string `json:"bearer_methods_supported"`
}

// NewResourceMetadata describes the resource with this identifier, the issuer of its tokens, and
// the scopes used there. ok is false for an identifier that is no address, where nobody could
// fetch the document.
func NewResourceMetadata(resource, issuer string, scopes []string) (m ResourceMetadata, ok bool) {
	u, err := url.Parse(resource)
	switch {
	case err != nil, u.Host == "", u.User != nil, u.RawQuery != "", u.ForceQuery, strings.Contains(resource, "#"),
		u.Scheme != "https" && (u.Scheme != "http" || !oauth.Loopback(u.Hostname())):
		return m, false
	}
	m.base = strings.TrimSuffix(u.Path, "/")
	m.Path = wellKnownResource + m.base
	m.URL = u.Scheme + "://" + u.Host + wellKnownResource + strings.TrimSuffix(u.EscapedPath(), "/")
	if u.Path == "/" {
		// The same resource as without the slash (RFC 3986 section 6.2.3). Clients that compare
		// letter for letter with an address that they made themselves have none there.
		resource = strings.TrimSuffix(resource, "/")
	}
	m.origin = u.Scheme + "://" + u.Host
	m.document = resourceDocument{resource, []string{issuer}, slices.Compact(slices.Sorted(slices.Values(scopes))), []string{"header"}}
	m.encode()
	return m, true
}

func (m *ResourceMetadata) encode() {
	m.JSON, _ = json.Marshal(m.document) // strings only
	m.ETag = `"` + secret.Digest(string(m.JSON))[:32] + `"`
}

// maxNamed bounds the path of a resource that For names, in bytes.
const maxNamed = 256

// For returns the document that answers a request. A client that asks for the metadata of an
// address must find that very address in it (RFC 9728 section 3.3), so below the well-known
// path the document names the address asked for. The authorization server takes an address
// below a resource for the resource.
func (m ResourceMetadata) For(r *http.Request) ResourceMetadata {
	below := strings.TrimPrefix(r.URL.EscapedPath(), wellKnownResource)
	if below == "" || below == "/" || below == m.base || len(below) > maxNamed || strings.Contains(below, "%") {
		return m
	}
	m.document.Resource = m.origin + below
	m.encode()
	return m
}

// Answers reports whether a request asks for the document. The zero value answers none.
//
// A client that knows one address of the API, such as /mcp, asks below the well-known path for
// that address (RFC 9728 section 3.1), and falls back to the well-known path alone. So the
// document is at both, and at every path below that of the resource.
func (m *ResourceMetadata) Answers(r *http.Request) bool {
	if m.Path == "" || r.Method != http.MethodGet && r.Method != http.MethodHead && !isPreflight(r) {
		return false
	}
	below, ok := strings.CutPrefix(r.URL.Path, wellKnownResource)
	if !ok || below != "" && below[0] != '/' {
		return false
	}
	if _, fault := requestPath(r); fault != "" {
		return false
	}
	below = strings.TrimSuffix(below, "/")
	return below == "" || below == m.base || strings.HasPrefix(below, m.base+"/")
}
