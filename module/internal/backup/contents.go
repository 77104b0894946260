package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// Contents is what the records of a store are.
type Contents struct {
	Records int                `json:"records"`
	Kinds   map[store.Kind]int `json:"kinds"`
	rings   []store.Record
}

// Inspect counts the records. progress, if not nil, is called with the number of records since the last call.
func Inspect(ctx context.Context, w store.Walker, progress func(int64)) (*Contents, error) {
	c := &Contents{Kinds: make(map[store.Kind]int)}
	err := w.Walk(ctx, func(page []store.Record) error {
		for _, r := range page {
			c.Records++
			c.Kinds[r.Kind]++
			if r.Kind == store.KindKeyRing {
				c.rings = append(c.rings, r)
			}
		}
		if progress != nil {
			progress(int64(len(page)))
		}
		return nil
	})
	return c, err
}

// ErrOtherSecret says that a secret does not belong to the records.
var ErrOtherSecret = errors.New("it is not the secret of these records: their signing keys were encrypted with another one")

// CheckSecrets returns [ErrOtherSecret] if the secrets cannot open the signing keys among the records. A store that was
// never used has none, and any secret will do.
func (c *Contents) CheckSecrets(secrets ...[]byte) error {
	keys, err := secret.NewKeys(secrets...)
	if err != nil {
		return err
	}
	for _, r := range c.rings {
		err := keyring.CheckSecrets(r, keys, time.Now())
		if errors.Is(err, secret.ErrForged) {
			return ErrOtherSecret
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ending lists the kinds of records with which somebody is signed in or can get a token, and the keys that signed the
// tokens in circulation.
func ending() []store.Kind {
	return []store.Kind{
		store.KindSession, store.KindCode, store.KindGrant, store.KindConsent, store.KindPushed,
		store.KindTicket, store.KindUserCode, store.KindTurn, store.KindKeyRing,
	}
}

// deletesAtOnce is how many records are removed at a time, so that they share their way to the disk.
const deletesAtOnce = 128

// EndSessions removes the records of [ending] and returns their number. No token issued before now is accepted: the keys
// that signed them are gone.
func EndSessions(ctx context.Context, b store.Backend) (ended int, err error) {
	w, ok := b.(store.Walker)
	if !ok {
		return 0, errors.New("backup: the store cannot go through its records")
	}
	ends := make(map[store.Kind]bool)
	for _, k := range ending() {
		ends[k] = true
	}
	err = w.Walk(ctx, func(page []store.Record) error {
		deletes, ctx := errgroup.WithContext(ctx)
		deletes.SetLimit(deletesAtOnce)
		for _, r := range page {
			if !ends[r.Kind] {
				continue
			}
			ended++
			deletes.Go(func() error {
				if err := b.Delete(ctx, r.Key); err != nil {
					return fmt.Errorf("removing a %s: %w", r.Kind, err)
				}
				return nil
			})
		}
		return deletes.Wait()
	})
	return ended, err
}
