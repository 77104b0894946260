package token

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// IssuerConfig is what an [Issuer] needs.
type IssuerConfig struct {
	Ring *Ring
	// Issuer is the iss claim, byte for byte.
	Issuer string
	// Alg is ES256 (the default), RS256 or EdDSA.
	Alg string
	// Now defaults to time.Now.
	Now func() time.Time
}

// Issuer signs access tokens by RFC 9068. It is safe for concurrent use.
type Issuer struct {
	ring   *Ring
	issuer string
	alg    string
	now    func() time.Time
}

// NewIssuer checks the configuration; the key is made at first use.
func NewIssuer(c IssuerConfig) (*Issuer, error) {
	if c.Alg == "" {
		c.Alg = "ES256"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Ring == nil || c.Issuer == "" {
		return nil, errors.New("token: an issuer needs a key ring and a name")
	}
	if _, ok := algorithms[c.Alg]; !ok {
		return nil, fmt.Errorf("token: unknown signing algorithm %q; use ES256, RS256 or EdDSA", c.Alg)
	}
	return &Issuer{ring: c.Ring, issuer: c.Issuer, alg: c.Alg, now: c.Now}, nil
}

// Issue signs a. The issuer is always ours; an empty ID and a zero IssuedAt are
// filled in; KeyID is ignored. Errors are technical or the caller's mistake, never
// the client's.
func (i *Issuer) Issue(ctx context.Context, a Access) (string, error) {
	if a.ID == "" {
		a.ID = secret.ID()
	}
	if a.IssuedAt.IsZero() {
		a.IssuedAt = i.now()
	}
	if a.Subject == "" || a.Client == "" || len(a.Audience) == 0 || !a.Expires.After(a.IssuedAt) {
		return "", errors.New("token: an access token needs a subject, a client, an audience and a time to live")
	}
	key, private, err := i.ring.signer(ctx, i.alg)
	if err != nil {
		return "", err
	}
	claims := jwt.MapClaims{
		"iss": i.issuer, "sub": a.Subject, "aud": a.Audience, "client_id": a.Client,
		"jti": a.ID, "iat": a.IssuedAt.Unix(), "exp": a.Expires.Unix(),
	}
	if len(a.Audience) == 1 {
		claims["aud"] = a.Audience[0]
	}
	if len(a.Scopes) > 0 {
		claims["scope"] = strings.Join(a.Scopes, " ")
	}
	if a.Grant != "" {
		claims["fam"] = a.Grant
	}
	t := jwt.Token{
		Method: key.algorithm.method,
		Header: map[string]any{"typ": headerType, "alg": key.Alg, "kid": key.Kid},
		Claims: claims,
	}
	raw, err := t.SignedString(private.signer)
	if err != nil {
		return "", fmt.Errorf("token: signing with key %s: %w", key.Kid, err)
	}
	if len(raw) > maxSize {
		return "", fmt.Errorf("token: a token of %d bytes, more than the %d a guard reads", len(raw), maxSize)
	}
	return raw, nil
}

// PublicKeys is what the jwks address serves. It makes the key of the algorithm if
// there is none: a relying party may come before the first token.
func (i *Issuer) PublicKeys(ctx context.Context) (KeySet, error) {
	s, err := i.ring.snapshot(ctx)
	if err != nil {
		return KeySet{}, err
	}
	if s.signer(i.alg, i.ring.now()) == nil {
		if _, _, err := i.ring.signer(ctx, i.alg); err != nil {
			return KeySet{}, err
		}
	}
	return i.ring.PublicKeys(ctx)
}

// Algorithms are the names of the signing algorithms in use.
func (i *Issuer) Algorithms() []string { return []string{i.alg} }
