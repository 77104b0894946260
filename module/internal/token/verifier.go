package token

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
)

// VerifierConfig is what a [Verifier] needs.
type VerifierConfig struct {
	Ring        *keyring.Ring
	Revocations *revocationlist.List
	// Now defaults to time.Now.
	Now func() time.Time
}

// Verifier decides whether a string is one of our living access tokens. It is safe for concurrent use and outlives
// configurations: whose tokens a route takes is the guard's decision.
type Verifier struct {
	VerifierConfig
	cache *verifiedCache
	// header is that of the token whose signature was verified last. Nearly all others have the same one.
	header atomic.Pointer[knownHeader]
}

// knownHeader is never changed: many verifications read it at once.
type knownHeader struct {
	encoded string
	header
}

// verified is a token whose form and signature are good, which stays so. All else is judged at each use. There may be
// hundreds of thousands: its size is that of an allocation of Go, 224 bytes.
type verified struct {
	Access
	notBefore Seconds // 0: no nbf
	bytes     uint32  // what the entry takes
	// over is set when the token was once seen expired: a clock that is set back must not revive it.
	over atomic.Bool
}

// NewVerifier checks the configuration. It touches no store.
func NewVerifier(c VerifierConfig) (*Verifier, error) {
	if c.Ring == nil || c.Revocations == nil {
		return nil, errors.New("token: a verifier needs a key ring and revocations")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	cache, err := newVerifiedCache(0)
	if err != nil {
		return nil, err
	}
	return &Verifier{VerifierConfig: c, cache: cache}, nil
}

// Verify returns the content of a token that is genuine, alive and not revoked. It does not compare issuer and
// audience: one cache serves many routes, and a verdict for one must not stand for another. Refusals match
// [ErrInvalid] and are a [RefusedError]; every other error is technical. The result is shared and must not be
// changed.
func (v *Verifier) Verify(ctx context.Context, raw string) (*Access, error) {
	if len(raw) > maxSize {
		return nil, errSize
	}
	sum := digest(raw)
	if t, ok := v.cache.good.GetIfPresent(sum); ok {
		v.cache.hits[sum[0]%16].Add(1)
		return v.judge(ctx, t)
	}
	if err, ok := v.cache.bad.GetIfPresent(sum); ok {
		return nil, err
	}
	v.cache.misses.Add(1)
	p, lasting, err := v.check(ctx, raw)
	if err != nil {
		if lasting {
			v.cache.bad.Set(sum, err)
		}
		return nil, err
	}
	return v.judge(ctx, v.cache.remember(sum, p))
}

// ResizeCache sets how many bytes verified tokens may take, from [MinCache] to [MaxCache], and keeps those that fit; 0 means [defaultCache].
func (v *Verifier) ResizeCache(size int64) { v.cache.resize(size) }

// CacheStats says what is remembered.
func (v *Verifier) CacheStats() CacheStats { return v.cache.stats() }

// Cached reports whether a token was verified before and is remembered. It may have expired or been revoked since.
func (v *Verifier) Cached(raw string) bool {
	if len(raw) > maxSize {
		return false
	}
	_, ok := v.cache.good.GetIfPresent(digest(raw))
	return ok
}

// check makes all checks of a token that can never change: its form and its signature. lasting says that a refusal
// can never change either.
func (v *Verifier) check(ctx context.Context, raw string) (p parsed, lasting bool, err error) {
	jws, ok := jose.Split(raw)
	if !ok {
		return p, true, errForm
	}
	h, err := v.readHeader(jws.Header)
	switch {
	case err != nil:
		return p, true, err
	case !isAccessType(h.Typ):
		return p, true, errType
	}
	if _, lasting, err = verifySignature(ctx, v.Ring, h.header, jws); err != nil {
		return p, lasting, err
	}
	if v.header.Load() != h {
		v.header.Store(h)
	}
	if p, ok = parseClaims(jws.Payload); !ok {
		return p, true, errClaims
	}
	p.KeyID = h.Kid
	if p.sealed != "" {
		err = openUser(ctx, v.Ring.Keys, &p)
	}
	return p, false, err // not lasting: the secrets may change
}

// readHeader parses a header, unless it is the one that was read before.
func (v *Verifier) readHeader(encoded string) (*knownHeader, error) {
	if known := v.header.Load(); known != nil && known.encoded == encoded {
		return known, nil
	}
	h, err := parseHeader(encoded)
	return &knownHeader{strings.Clone(encoded), h}, err // cloned, so that it does not keep the rest of the token in memory
}

// verifySignature returns the key of the ring that signed a token. The algorithm is the key's; the token can only
// agree. lasting says that a refusal can never change.
func verifySignature(ctx context.Context, ring *keyring.Ring, h header, jws jose.JWS) (key *keyring.Key, lasting bool, err error) {
	key, err = ring.Lookup(ctx, h.Kid)
	switch {
	case err != nil:
		return nil, false, err
	case key == nil:
		return nil, false, errKey
	case h.Alg != key.Alg:
		return nil, true, errAlgorithm
	}
	signature, err := jose.Base64.DecodeString(jws.Signature)
	if err != nil {
		return nil, true, errForm
	}
	if key.Verify(jws.Signed, signature) != nil {
		return nil, true, errSignature
	}
	return key, false, nil
}

// judge makes all checks whose result can change between two uses of a token.
func (v *Verifier) judge(ctx context.Context, t *verified) (*Access, error) {
	key, err := v.Ring.Cached(ctx, t.KeyID)
	if err != nil {
		return nil, err
	}
	now := v.Now()
	switch {
	case key == nil || key.Retired(now):
		return nil, errKey.of(&t.Access)
	case t.over.Load():
		return nil, errExpired.of(&t.Access)
	case !now.Before(t.Expires):
		t.over.Store(true)
		return nil, errExpired.of(&t.Access)
	case t.IssuedAt.Time().After(now.Add(jose.Leeway)), t.notBefore.Time().After(now.Add(jose.Leeway)):
		return nil, errEarly.of(&t.Access)
	}
	revoked, err := v.Revocations.Revoked(revocationlist.Token{
		ID: t.ID, Grant: t.Grant, KeyID: t.KeyID, Subject: t.Subject, Client: t.Client, IssuedAt: t.IssuedAt.Time(), Epochs: t.Epochs,
	})
	switch {
	case err != nil:
		return nil, err
	case revoked:
		return nil, errRevoked.of(&t.Access)
	}
	return &t.Access, nil
}
