package token

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// IssuerConfig is what an [Issuer] needs.
type IssuerConfig struct {
	Ring *keyring.Ring
	// Issuer is the iss claim, byte for byte.
	Issuer string
	// Alg signs access tokens: ES256 (the default), RS256 or EdDSA.
	Alg string
	// IDAlgs are the algorithms that id_tokens are going to be signed with, default RS256. Their keys are published
	// before the first id_token needs them, for relying parties that fetched the keys earlier and keep them. Another
	// algorithm's key is made when an id_token asks for it.
	IDAlgs []string
	// Now defaults to time.Now.
	Now func() time.Time
}

// Issuer signs access tokens by RFC 9068, and id_tokens. It is safe for concurrent use.
type Issuer struct{ IssuerConfig }

// NewIssuer checks the configuration; the key is made at first use.
func NewIssuer(c IssuerConfig) (*Issuer, error) {
	if c.Ring == nil || c.Issuer == "" {
		return nil, errors.New("token: an issuer needs a key ring and a name")
	}
	c.Alg = cmp.Or(c.Alg, "ES256")
	if len(c.IDAlgs) == 0 {
		c.IDAlgs = []string{defaultIDAlg}
	}
	c.IDAlgs = slices.Compact(slices.Sorted(slices.Values(c.IDAlgs)))
	for _, alg := range append([]string{c.Alg}, c.IDAlgs...) {
		if !keyring.Supports(alg) {
			return nil, fmt.Errorf("token: unknown signing algorithm %q; use ES256, RS256 or EdDSA", alg)
		}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Issuer{c}, nil
}

// Issue signs a. The issuer is always ours; an empty ID and a zero IssuedAt are filled in; KeyID is ignored. Errors
// are technical or the caller's mistake, never the client's.
func (i *Issuer) Issue(ctx context.Context, a Access) (string, error) {
	if a.ID == "" {
		a.ID = secret.ID()
	}
	if a.IssuedAt == 0 {
		a.IssuedAt = SecondsOf(i.Now())
	}
	if a.Subject == "" || a.Client == "" || len(a.Audience) == 0 || SecondsOf(a.Expires) <= a.IssuedAt {
		return "", errors.New("token: an access token needs a subject, a client, an audience and a time to live")
	}
	named, sealed, err := sealUser(ctx, i.Ring.Keys, a)
	if err != nil {
		return "", err
	}
	return i.sign(ctx, accessType, accessClaims{
		Issuer: i.Issuer, Subject: named, Sealed: sealed, Audience: AudienceClaim(a.Audience), Client: a.Client, ID: a.ID,
		IssuedAt: int64(a.IssuedAt), Expires: a.Expires.Unix(), Scope: oauth.JoinScopes(a.Scopes), Grant: a.Grant,
		SubjectEpoch: a.Epochs.Subject, PairEpoch: a.Epochs.Pair,
	}, i.Alg, maxSize)
}

// sign makes the compact form (RFC 7515 section 7.1) with the key that signs now.
func (i *Issuer) sign(ctx context.Context, typ string, claims any, alg string, most int) (string, error) {
	key, err := i.Ring.Signer(ctx, alg)
	if err != nil {
		return "", err
	}
	head, err := json.Marshal(header{Alg: key.Alg, Kid: key.Kid, Typ: typ})
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("token: encoding claims: %w", err)
	}
	const room = 128 // for the dots and a signature of ES256 or EdDSA; that of RS256 makes its own
	raw := make([]byte, 0, jose.Base64.EncodedLen(len(head)+len(payload))+room)
	raw = append(jose.Base64.AppendEncode(raw, head), '.')
	raw = jose.Base64.AppendEncode(raw, payload)
	signature, err := key.Sign(string(raw))
	if err != nil {
		return "", fmt.Errorf("token: signing with key %s: %w", key.Kid, err)
	}
	raw = jose.Base64.AppendEncode(append(raw, '.'), signature)
	if len(raw) > most {
		return "", fmt.Errorf("token: a token of %d bytes, more than the %d that are read again", len(raw), most)
	}
	return string(raw), nil
}

// PublicKeys is what the jwks address serves. It makes the keys of all algorithms in use that are missing.
func (i *Issuer) PublicKeys(ctx context.Context) (keyring.KeySet, error) {
	return i.Ring.PublicKeys(ctx, i.Algorithms()...)
}

// Algorithms are the names of the signing algorithms in use, that of access tokens first.
func (i *Issuer) Algorithms() []string {
	return append([]string{i.Alg}, slices.DeleteFunc(i.IDAlgorithms(), func(alg string) bool { return alg == i.Alg })...)
}

// IDAlgorithms are those that id_tokens are expected to be signed with.
func (i *Issuer) IDAlgorithms() []string { return slices.Clone(i.IDAlgs) }
