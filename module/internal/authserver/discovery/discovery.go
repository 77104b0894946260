// Package discovery serves the metadata and the public keys of the server to relying parties. It knows nothing of
// what the addresses in the metadata do.
package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Config is what the [Documents] are made of; New checks it.
type Config struct {
	Issuer string
	// Scopes are those that are declared and not hidden; the built-in ones are listed anyway.
	Scopes []string
	// GrantTypes are those that are always offered.
	GrantTypes []oauth.GrantType
	// IDAlgorithms are those that id_tokens are signed with.
	IDAlgorithms []string
	// Languages are those of the pages.
	Languages []string
	// Registration says that clients can register themselves.
	Registration bool
	// OptionalGrants returns those of [oauth.OptionalGrantTypes] that some client may use now. It is called for every
	// document.
	OptionalGrants func() []oauth.GrantType
	// PublicKeys returns the public keys. Errors are technical.
	PublicKeys func(ctx context.Context) (keyring.KeySet, error)
	Respond    oauthhttp.Responder
}

// Documents serves the metadata and the keys.
type Documents struct {
	Config
	// metadata has the document for each set of optional grant types that some client may use: clients are made, and
	// deprecated grants end, while the server runs.
	metadata map[string]document
}

// New builds the metadata once, so nothing of a request can get into it.
func New(c Config) (*Documents, error) {
	if c.Issuer == "" || c.OptionalGrants == nil || c.PublicKeys == nil {
		return nil, errors.New("discovery: an incomplete Config")
	}
	d := &Documents{Config: c, metadata: make(map[string]document)}
	sets := [][]oauth.GrantType{nil}
	for _, g := range oauth.OptionalGrantTypes {
		for _, set := range sets {
			sets = append(sets, append(slices.Clone(set), g))
		}
	}
	for _, optional := range sets {
		body, err := json.Marshal(d.provider(optional))
		if err != nil {
			return nil, err
		}
		d.metadata[setKey(optional)] = document{body: body, etag: `"` + secret.Digest(string(body))[:32] + `"`}
	}
	return d, nil
}

// ServeMetadata answers at the addresses of RFC 8414 and of OpenID Connect Discovery.
func (d *Documents) ServeMetadata(w http.ResponseWriter, r *http.Request) {
	publish(w, r, d.metadata[setKey(d.OptionalGrants())])
}

// ServeKeys answers with the public keys (RFC 7517 section 5).
func (d *Documents) ServeKeys(w http.ResponseWriter, r *http.Request) {
	keys, err := d.PublicKeys(r.Context())
	if err != nil {
		d.Respond.WriteError(w, r, oauth.Unavailable(err))
		return
	}
	publish(w, r, document{body: keys.JSON, etag: keys.ETag})
}
