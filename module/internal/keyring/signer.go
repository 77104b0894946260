package keyring

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// sealUse is the purpose for which private keys are sealed.
const sealUse = "signing key"

// private is an unsealed key. It is always held by pointer, which no verb of fmt follows from a field.
type private struct {
	crypto.Signer
}

// Signer is a signing key with its private half.
type Signer struct {
	*Key
	private *private
}

// Sign signs a text.
func (s Signer) Sign(text string) ([]byte, error) {
	return s.algorithm.method.Sign(text, s.private.Signer)
}

// Signer returns the key that signs now. It makes the first key of an algorithm. It fails if the store cannot be read and
// the ring in memory is so old that other nodes may have replaced the key and would refuse tokens signed with it.
func (r *Ring) Signer(ctx context.Context, alg string) (Signer, error) {
	if s, err := r.snapshot(ctx); err == nil && r.Now().Sub(s.read) >= lead {
		if _, err := r.share(ctx, "seek", r.seek); err != nil {
			return Signer{}, err
		}
	}
	k, err := r.signingKey(ctx, alg)
	if err != nil {
		return Signer{}, err
	}
	p, err := r.open(ctx, k)
	return Signer{k, p}, err
}

func (r *Ring) signingKey(ctx context.Context, alg string) (*Key, error) {
	s, err := r.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if k := s.signer(alg, r.Now()); k != nil {
		return k, nil
	}
	// If several nodes race to make a key, one wins and the others use its key.
	s, err = r.share(ctx, "make "+alg, func(ctx context.Context) error {
		_, err := r.change(ctx, WhyFirst, func(d *draft) {
			if d.was.signer(alg, d.now) == nil {
				d.addKey(alg, time.Time{})
			}
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	k := s.signer(alg, r.Now())
	if k == nil {
		return nil, fmt.Errorf("keyring: there is no signing key for %s", alg)
	}
	return k, nil
}

// open unseals a key, once.
func (r *Ring) open(ctx context.Context, k *Key) (*private, error) {
	if p := k.opened.Load(); p != nil {
		return p, nil
	}
	keys, err := r.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("keyring: the secret: %w", err)
	}
	p, err := unseal(keys, k)
	if err == nil {
		k.opened.Store(p)
	}
	return p, err
}

// CheckSecrets returns an error if a record of the kind [store.KindKeyRing] has a key that signs and was sealed under none
// of these secrets: whoever puts such a record into force would have keys that cannot sign.
func CheckSecrets(r store.Record, keys *secret.Keys, now time.Time) error {
	s, err := decodeRecord(r)
	if err != nil {
		return fmt.Errorf("keyring: %w", err)
	}
	for _, k := range s.keys {
		if k.stoppedSigning(now) || k.Retired(now) {
			continue
		}
		if _, err := unseal(keys, k); err != nil {
			return err
		}
	}
	return nil
}

// CheckStored is [CheckSecrets] for the keys in a store. A store that has none agrees with any secrets,
// and any store does with none.
func CheckStored(ctx context.Context, from store.Backend, secrets ...[]byte) error {
	r, err := from.Get(ctx, recordKey)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil || len(secrets) == 0 {
		return err
	}
	keys, err := secret.NewKeys(secrets...)
	if err != nil {
		return err
	}
	return CheckSecrets(r, keys, time.Now())
}

func unseal(keys *secret.Keys, k *Key) (*private, error) {
	der, err := keys.Open(sealUse, k.Private, []byte(k.Kid))
	if err != nil {
		return nil, fmt.Errorf("keyring: signing key %s was sealed under another secret than the configured one; put the old secret behind the new one: %w", k.Kid, err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		// The parser's error is left out, because the parser has seen the private key.
		return nil, fmt.Errorf("keyring: signing key %s is damaged", k.Kid)
	}
	signer, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("keyring: signing key %s is of type %T", k.Kid, parsed)
	}
	if own, err := newJWK(k.Alg, signer.Public()); err != nil || own != k.Public {
		return nil, fmt.Errorf("keyring: signing key %s is not the private half of what is published", k.Kid)
	}
	return &private{signer}, nil
}

func (r *Ring) newKey(ctx context.Context, alg string) (*storedKey, error) {
	keys, err := r.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("keyring: the secret: %w", err)
	}
	signer, public, err := newPair(alg)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(signer)
	if err != nil {
		return nil, fmt.Errorf("keyring: encoding a key for %s: %w", alg, err)
	}
	return &storedKey{
		Kid: public.Kid, Alg: alg, Public: public,
		Private: keys.Seal(sealUse, der, []byte(public.Kid)),
	}, nil
}

// newPair generates a key pair whose kid can be passed to a command: one kid in 64 would start with a hyphen and
// look like a flag.
func newPair(alg string) (crypto.Signer, jwk, error) {
	for {
		signer, err := algorithms[alg].generate()
		if err != nil {
			return nil, jwk{}, fmt.Errorf("keyring: making a key for %s: %w", alg, err)
		}
		public, err := newJWK(alg, signer.Public())
		if err != nil || !strings.HasPrefix(public.Kid, "-") {
			return signer, public, err
		}
	}
}
