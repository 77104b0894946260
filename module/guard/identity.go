package guard

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

// maxIdentity bounds subject and client, in bytes: ours are shorter, and an upstream may refuse
// or cut a longer header.
const maxIdentity = 1 << 10

// Headers are the names of the header fields that tell the upstream who the caller is. What a
// client sends under these names is removed.
type Headers struct {
	// The subject. Default: `X-Auth-Subject`.
	Subject string `json:"subject,omitempty"`
	// The client. Default: `X-Auth-Client`.
	Client string `json:"client,omitempty"`
	// The scopes. Default: `X-Auth-Scopes`.
	Scopes string `json:"scopes,omitempty"`
}

// Identity removes from requests what clients may not tell the upstream, and tells it who calls.
// It is safe for concurrent use.
type Identity struct {
	subject, client, scopes string
	forwardToken            bool
	ours                    aliases // the three names
	removed                 aliases // those and overrideHeaders
}

// methodHeaders make many frameworks run another method than the one that was judged.
var methodHeaders = []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"}

// overrideHeaders do so, or make IIS and Symfony run another path.
var overrideHeaders = append([]string{"X-Original-Url", "X-Rewrite-Url"}, methodHeaders...)

// reservedHeaders cannot carry an identity: HTTP needs them.
var reservedHeaders = newAliases([]string{
	"Accept", "Accept-Encoding", "Authorization", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Cookie", "Date",
	"Expect", "Forwarded", "Host", "Keep-Alive", "Origin", "Proxy-Authorization", "Proxy-Connection", "Range", "Referer", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "User-Agent", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
})

// NewIdentity checks the names: letters, digits and hyphens, distinct, and none
// that HTTP itself needs. forwardToken leaves Authorization in the request.
func NewIdentity(c Headers, forwardToken bool) (*Identity, error) {
	names := []string{cmp.Or(c.Subject, httpx.SubjectHeader), cmp.Or(c.Client, httpx.ClientHeader), cmp.Or(c.Scopes, httpx.ScopesHeader)}
	for i, name := range names {
		for j := range len(name) {
			if !isAlnum(name[j]) && (name[j] != '-' || j == 0) {
				return nil, fmt.Errorf("guard: header %q may have letters, digits and hyphens only, and must not begin with a hyphen", name)
			}
		}
		if reservedHeaders.have(name) || newAliases(overrideHeaders).have(name) || newAliases(names[:i]).have(name) {
			return nil, fmt.Errorf("guard: header %q has another use, expected a name that is in use neither by HTTP nor for one of the other two", name)
		}
		names[i] = http.CanonicalHeaderKey(name)
	}
	return &Identity{
		subject: names[0], client: names[1], scopes: names[2], forwardToken: forwardToken,
		ours: newAliases(names), removed: newAliases(append(names, overrideHeaders...)),
	}, nil
}

// Names returns the names of the headers that tell the upstream who calls.
func (i *Identity) Names() []string { return []string{i.subject, i.client, i.scopes} }

// Strip removes from a request that goes upstream, public routes included: our header
// names in every spelling, also in trailers and where Connection lists them (a proxy would
// then delete ours); headers that override method or path, or upgrade the connection to
// another protocol; the token, unless it is forwarded; and our cookies.
func (i *Identity) Strip(r *http.Request) {
	i.removed.deleteFrom(r.Header)
	i.stripConnection(r.Header)
	i.stripTrailer(r)
	httpx.KeepHTTP(r.Header)
	if !i.forwardToken {
		delete(r.Header, "Authorization")
	}
	StripCookies(r.Header)
}

// Apply sets the headers that tell the upstream who calls. Values are percent-encoded where
// they are not visible ASCII, so that any subject stays one header. A token that a client got
// for itself has no subject header. Strip must have run before.
func (i *Identity) Apply(r *http.Request, access *token.Access) {
	if access == nil {
		return
	}
	values := [3]string{httpx.EncodeHeaderValue(access.Subject), httpx.EncodeHeaderValue(access.Client), httpx.EncodeHeaderList(access.Scopes)}
	if !strings.HasPrefix(access.Subject, token.ClientSubject) {
		r.Header[i.subject] = values[0:1:1]
	}
	r.Header[i.client] = values[1:2:2]
	r.Header[i.scopes] = values[2:3:3]
}
