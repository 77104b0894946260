package remote

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/plugins/internal/words"
)

// TLS says which certificates of a server to trust.
type TLS struct {
	// The certificates to trust, from one of Caddy's modules, such as
	// `{"provider": "file", "pem_files": ["/etc/ssl/ca.pem"]}`. Default: the system's.
	TrustPool json.RawMessage `json:"trust_pool,omitempty" caddy:"namespace=tls.ca_pool.source inline_key=provider"`
}

// ReadTLS reads the block of the option tls into t.
func ReadTLS(t **TLS) words.Reader {
	return func(d *caddyfile.Dispenser, word string) error {
		*t = new(TLS)
		return TLSBlock(&(*t).TrustPool, nil)(d, word)
	}
}

// Load loads the trust pool and returns its certificates in PEM form, as [LoadTrustPool] does. It is an error if a file,
// the option ca, says whom to trust as well.
func (t *TLS) Load(ctx caddy.Context, ca string) (string, error) {
	if t == nil || t.TrustPool == nil {
		return "", nil
	}
	if ca != "" {
		return "", errors.New("expected either ca or tls with trust_pool, which both say whom to trust")
	}
	trusted, err := LoadTrustPool(ctx, t, "TrustPool")
	if err != nil {
		return "", fmt.Errorf("tls: trust_pool: %w", err)
	}
	return trusted, nil
}
