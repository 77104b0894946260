package token

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// sealUse is the purpose under which private keys are sealed.
	sealUse = "signing key"
	// makeAttempts bounds the races that the making of one key may lose.
	makeAttempts = 16
)

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

// makeKey adds a key of the algorithm to the stored ring if it still has none. Of nodes
// that race one wins, and the others take its key.
func (r *Ring) makeKey(ctx context.Context, alg string) (*snapshot, error) {
	r.access.Lock()
	defer r.access.Unlock()
	var fresh *storedKey
	for range makeAttempts {
		s, err := r.read(ctx)
		if err != nil {
			return nil, err
		}
		now := r.now()
		if s.signer(alg, now) != nil {
			return s, nil
		}
		if fresh == nil {
			if fresh, err = r.newKey(ctx, alg, now); err != nil {
				return nil, err
			}
		}
		s, err = r.write(ctx, s, *fresh, now)
		switch {
		case err == nil:
			r.install(s)
			return s, nil
		case errors.Is(err, store.ErrExists), errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotFound):
			// Another node wrote meanwhile.
		default:
			return nil, fmt.Errorf("token: storing a signing key: %w", err)
		}
	}
	return nil, errors.New("token: the key ring changes too often to add a key")
}

func (r *Ring) write(ctx context.Context, s *snapshot, k storedKey, now time.Time) (*snapshot, error) {
	next, err := s.with(k, now)
	if err != nil {
		return nil, err
	}
	value, err := json.Marshal(next)
	if err != nil {
		return nil, fmt.Errorf("token: encoding the key ring: %w", err)
	}
	record := store.Record{Key: ringRecordKey, Value: value, Version: s.version}
	if s.version == 0 {
		record, err = r.store.Create(ctx, record)
	} else {
		record, err = r.store.Swap(ctx, record)
	}
	if err != nil {
		return nil, err
	}
	return decodeRing(record)
}

func (r *Ring) newKey(ctx context.Context, alg string, now time.Time) (*storedKey, error) {
	keys, err := r.keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("token: the secret: %w", err)
	}
	signer, err := algorithms[alg].generate()
	if err != nil {
		return nil, fmt.Errorf("token: making a key for %s: %w", alg, err)
	}
	public, err := newJWK(alg, signer.Public())
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(signer)
	if err != nil {
		return nil, fmt.Errorf("token: encoding a key for %s: %w", alg, err)
	}
	return &storedKey{
		Kid: public.Kid, Alg: alg, Public: public, Created: now.UTC().Truncate(time.Second),
		Private: keys.Seal(sealUse, der, []byte(public.Kid)),
	}, nil
}
