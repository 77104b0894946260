package token

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// IssuerConfig is what an [Issuer] needs.
type IssuerConfig struct {
	Ring *Ring
	// Issuer is the iss claim, byte for byte.
	Issuer string
	// Alg signs access tokens: ES256 (the default), RS256 or EdDSA.
	Alg string
	// IDAlgs are the algorithms that id_tokens are going to be signed with, default
	// RS256. Their keys are published before the first id_token needs them, for relying
	// parties that fetched the keys earlier and keep them. Another algorithm's key is
	// made when an id_token asks for it.
	IDAlgs []string
	// Now defaults to time.Now.
	Now func() time.Time
}

// Issuer signs access tokens by RFC 9068, and id_tokens. It is safe for concurrent use.
type Issuer struct {
	ring   *Ring
	issuer string
	alg    string
	idAlgs []string
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
	if len(c.IDAlgs) == 0 {
		c.IDAlgs = []string{defaultIDAlg}
	}
	i := &Issuer{ring: c.Ring, issuer: c.Issuer, alg: c.Alg, now: c.Now}
	for _, alg := range append([]string{c.Alg}, c.IDAlgs...) {
		if _, ok := algorithms[alg]; !ok {
			return nil, fmt.Errorf("token: unknown signing algorithm %q; use ES256, RS256 or EdDSA", alg)
		}
	}
	i.idAlgs = slices.Compact(slices.Sorted(slices.Values(c.IDAlgs)))
	return i, nil
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
	named, sealed, err := i.ring.sealUser(ctx, a)
	if err != nil {
		return "", err
	}
	return i.sign(ctx, headerType, accessClaims{
		Issuer: i.issuer, Subject: named, Sealed: sealed, Audience: AudienceClaim(a.Audience), Client: a.Client, ID: a.ID,
		IssuedAt: a.IssuedAt.Unix(), Expires: a.Expires.Unix(), Scope: oauth.JoinScopes(a.Scopes), Grant: a.Grant,
		SubjectEpoch: a.Epochs.Subject, PairEpoch: a.Epochs.Pair,
	}, i.alg, maxSize)
}

// accessClaims is the payload of an access token.
type accessClaims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience any    `json:"aud"`
	Client   string `json:"client_id"`
	ID       string `json:"jti"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	Scope    string `json:"scope,omitempty"`
	Grant    string `json:"fam,omitempty"`
	Sealed   string `json:"sealed_sub,omitempty"`

	SubjectEpoch int64 `json:"epoch_sub,omitempty"`
	PairEpoch    int64 `json:"epoch_pair,omitempty"`
}

// AudienceClaim is how an audience is written: one as a string, several in an array (RFC
// 7519 section 4.1.3).
func AudienceClaim(all []string) any {
	if len(all) == 1 {
		return all[0]
	}
	return all
}

// sign makes the compact form (RFC 7515 section 7.1) with the key that signs now.
func (i *Issuer) sign(ctx context.Context, typ string, claims any, alg string, most int) (string, error) {
	key, private, err := i.ring.signer(ctx, alg)
	if err != nil {
		return "", err
	}
	header, err := json.Marshal(jwsHeader{Alg: key.Alg, Kid: key.Kid, Typ: typ})
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("token: encoding claims: %w", err)
	}
	const room = 128 // for the dots and a signature of ES256 or EdDSA; that of RS256 makes its own
	raw := make([]byte, 0, b64.EncodedLen(len(header)+len(payload))+room)
	raw = append(b64.AppendEncode(raw, header), '.')
	raw = b64.AppendEncode(raw, payload)
	signature, err := key.algorithm.method.Sign(string(raw), private.signer)
	if err != nil {
		return "", fmt.Errorf("token: signing with key %s: %w", key.Kid, err)
	}
	raw = b64.AppendEncode(append(raw, '.'), signature)
	if len(raw) > most {
		return "", fmt.Errorf("token: a token of %d bytes, more than the %d that are read again", len(raw), most)
	}
	return string(raw), nil
}

type jwsHeader struct {
	Alg string `json:"alg"`
	Kid string `json:"kid"`
	Typ string `json:"typ"`
}

// PublicKeys is what the jwks address serves. It makes the keys of all algorithms in
// use that are missing: a relying party may come before the first token.
func (i *Issuer) PublicKeys(ctx context.Context) (KeySet, error) {
	for _, alg := range i.Algorithms() {
		s, err := i.ring.snapshot(ctx)
		if err != nil {
			return KeySet{}, err
		}
		if s.signer(alg, i.ring.now()) == nil {
			if _, _, err := i.ring.signer(ctx, alg); err != nil {
				return KeySet{}, err
			}
		}
	}
	return i.ring.PublicKeys(ctx)
}

// Algorithms are the names of the signing algorithms in use, that of access tokens
// first.
func (i *Issuer) Algorithms() []string {
	algs := []string{i.alg}
	for _, alg := range i.idAlgs {
		if alg != i.alg {
			algs = append(algs, alg)
		}
	}
	return algs
}

// IDAlgorithms are those that id_tokens are expected to be signed with.
func (i *Issuer) IDAlgorithms() []string { return slices.Clone(i.idAlgs) }
