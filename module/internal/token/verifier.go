package token

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Leeway is the clock tolerance: granted on nbf and iat for clocks that differ, and never on
// exp.
const Leeway = time.Minute

// VerifierConfig is what a [Verifier] needs.
type VerifierConfig struct {
	Ring        *Ring
	Revocations *Revocations
	// CacheSize is the number of verified tokens remembered, default 50,000. One of
	// more than 1 KiB counts as several, so it bounds the memory too.
	CacheSize int
	// Now defaults to time.Now.
	Now func() time.Time
}

// Verifier decides whether a string is one of our living access tokens. It is safe
// for concurrent use and outlives configurations: whose tokens a route takes is the
// guard's decision.
type Verifier struct {
	ring        *Ring
	revocations *Revocations
	now         func() time.Time
	cache       *verifiedCache
}

// verified is a token whose form and signature were found good, which stays so. All
// else is judged at each use.
type verified struct {
	parsed
	// over is set when the token was once seen expired: a clock that is set back
	// must not bring it to life again.
	over atomic.Bool
}

// NewVerifier checks the configuration. It touches no store.
func NewVerifier(c VerifierConfig) (*Verifier, error) {
	if c.Ring == nil || c.Revocations == nil || c.CacheSize < 0 {
		return nil, errors.New("token: a verifier needs a key ring, revocations and a size for its cache")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.CacheSize == 0 {
		c.CacheSize = 50_000
	}
	cache, err := newVerifiedCache(c.CacheSize)
	if err != nil {
		return nil, err
	}
	return &Verifier{ring: c.Ring, revocations: c.Revocations, now: c.Now, cache: cache}, nil
}

// Verify returns the content of a token that is genuine, alive and not revoked. It
// does not compare issuer and audience: one cache serves many routes, and a verdict
// for one must not stand for another. Refusals match [ErrInvalid] and are a [RefusedError];
// every other error is technical. The result is shared and must not be changed.
func (v *Verifier) Verify(ctx context.Context, raw string) (*Access, error) {
	if len(raw) > maxSize {
		return nil, errSize
	}
	sum := digest(raw)
	if t, ok := v.cache.good.GetIfPresent(sum); ok {
		return v.judge(ctx, t)
	}
	if err, ok := v.cache.bad.GetIfPresent(sum); ok {
		return nil, err
	}
	t, lasting, err := v.check(ctx, raw)
	if err != nil {
		if lasting {
			v.cache.bad.Set(sum, err)
		}
		return nil, err
	}
	v.cache.good.Set(sum, t)
	return v.judge(ctx, t)
}

// Cached reports whether a token was verified before and is remembered. It may have expired
// or been revoked since.
func (v *Verifier) Cached(raw string) bool {
	if len(raw) > maxSize {
		return false
	}
	_, ok := v.cache.good.GetIfPresent(digest(raw))
	return ok
}

// check is everything about a token that can never change: its form and its
// signature. lasting says that a refusal can never change either. The key is the
// ring's, and the algorithm the key's; the token can only agree.
func (v *Verifier) check(ctx context.Context, raw string) (t *verified, lasting bool, err error) {
	p, ok := splitJWS(raw)
	if !ok {
		return nil, true, errForm
	}
	h, err := parseHeader(p.header)
	if err != nil {
		return nil, true, err
	}
	key, err := v.ring.lookup(ctx, h.kid)
	switch {
	case err != nil:
		return nil, false, err
	case key == nil:
		return nil, false, errKey
	case h.alg != key.Alg:
		return nil, true, errAlgorithm
	}
	signature, err := b64.DecodeString(p.signature)
	if err != nil {
		return nil, true, errForm
	}
	if key.algorithm.method.Verify(p.signed, signature, key.public) != nil {
		return nil, true, errSignature
	}
	t = new(verified)
	if t.parsed, ok = parseClaims(p.payload); !ok {
		return nil, true, errClaims
	}
	t.KeyID = key.Kid
	if t.sealed == "" {
		return t, false, nil
	}
	// Not lasting: the secrets are a function's to tell.
	return t, false, v.ring.openUser(ctx, &t.parsed)
}

// judge is everything that can change between two uses of a token.
func (v *Verifier) judge(ctx context.Context, t *verified) (*Access, error) {
	ring, err := v.ring.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	now := v.now()
	key := ring.byID[t.KeyID]
	switch {
	case key == nil || key.retired(now):
		return nil, errKey.of(&t.Access)
	case t.over.Load():
		return nil, errExpired.of(&t.Access)
	case !now.Before(t.Expires):
		t.over.Store(true)
		return nil, errExpired.of(&t.Access)
	case t.IssuedAt.After(now.Add(Leeway)), t.notBefore.After(now.Add(Leeway)):
		return nil, errEarly.of(&t.Access)
	}
	revoked, err := v.revocations.Check(&t.Access)
	switch {
	case err != nil:
		return nil, err
	case revoked:
		return nil, errRevoked.of(&t.Access)
	}
	return &t.Access, nil
}
