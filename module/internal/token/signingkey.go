package token

import (
	"context"
	"crypto"
	"crypto/x509"
	"fmt"
	"strings"
	"time"
)

// sealUse is the purpose under which private keys are sealed.
const sealUse = "signing key"

// private is an unsealed key. It is only ever held by pointer, which no verb of fmt
// follows from a field.
type private struct {
	signer crypto.Signer
}

// signer gives the key that signs now, making the first one of the algorithm.
func (r *Ring) signer(ctx context.Context, alg string) (*ringKey, *private, error) {
	s, err := r.snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	k := s.signer(alg, r.now())
	if k == nil {
		s, err = r.share(ctx, "make "+alg, func(ctx context.Context) (*snapshot, error) { return r.makeKey(ctx, alg) })
		if err != nil {
			return nil, nil, err
		}
		if k = s.signer(alg, r.now()); k == nil {
			return nil, nil, fmt.Errorf("token: no key signs with %s", alg)
		}
	}
	p, err := r.open(ctx, k)
	return k, p, err
}

// open unseals a key, once.
func (r *Ring) open(ctx context.Context, k *ringKey) (*private, error) {
	if v, ok := r.opened.Load(k.Kid); ok {
		if p, ok := v.(*private); ok {
			return p, nil
		}
	}
	keys, err := r.keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("token: the secret: %w", err)
	}
	der, err := keys.Open(sealUse, k.Private, []byte(k.Kid))
	if err != nil {
		return nil, fmt.Errorf("token: signing key %s was sealed under another secret than the configured one; put the old secret behind the new one: %w", k.Kid, err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		// The parser's text is left out: it has seen the private key.
		return nil, fmt.Errorf("token: signing key %s is damaged", k.Kid)
	}
	signer, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("token: signing key %s is of type %T", k.Kid, parsed)
	}
	if own, err := newJWK(k.Alg, signer.Public()); err != nil || own != k.jwk {
		return nil, fmt.Errorf("token: signing key %s is not the private half of what is published", k.Kid)
	}
	p := &private{signer}
	r.opened.Store(k.Kid, p)
	return p, nil
}

// makeKey adds a key of the algorithm to the stored ring if none can sign. Of nodes
// that race one wins, and the others take its key.
func (r *Ring) makeKey(ctx context.Context, alg string) (*snapshot, error) {
	return r.change(ctx, WhyFirst, func(d *draft) {
		if d.was.signer(alg, d.now) == nil {
			d.add(alg, time.Time{})
		}
	})
}

func (r *Ring) newKey(ctx context.Context, alg string) (*storedKey, error) {
	keys, err := r.keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("token: the secret: %w", err)
	}
	signer, public, err := newPair(alg)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(signer)
	if err != nil {
		return nil, fmt.Errorf("token: encoding a key for %s: %w", alg, err)
	}
	return &storedKey{
		Kid: public.Kid, Alg: alg, Public: public,
		Private: keys.Seal(sealUse, der, []byte(public.Kid)),
	}, nil
}

// newPair makes a key whose kid can be given to a command: one of 64 would begin with a
// hyphen, and be taken for a flag.
func newPair(alg string) (crypto.Signer, jwk, error) {
	for {
		signer, err := algorithms[alg].generate()
		if err != nil {
			return nil, jwk{}, fmt.Errorf("token: making a key for %s: %w", alg, err)
		}
		public, err := newJWK(alg, signer.Public())
		if err != nil || !strings.HasPrefix(public.Kid, "-") {
			return signer, public, err
		}
	}
}
