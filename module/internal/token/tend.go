package token

import (
	"context"
	"crypto/rand"
	"log/slog"
	"math/big"
	"time"
)

const (
	// tendEvery is the least time between two looks of a node at its ring; the most is
	// twice as long, so that nodes which began together do not stay together.
	tendEvery = 5 * time.Minute
	// tendFirst bounds the wait for the first look.
	tendFirst = 30 * time.Second
)

// Tend does what time asks for: a key that is too old gets a successor, and one that
// retired leaves the record. Any number of nodes may do it at once.
func (r *Ring) Tend(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	every := r.every()
	_, err := r.change(ctx, WhySchedule, func(d *draft) {
		d.changed = len(d.keys) != len(d.was.keys)
		d.raise()
		for _, alg := range d.was.algorithms(d.now) {
			if k := d.was.signer(alg, d.now); every > 0 && !d.now.Before(k.begins().Add(every)) {
				d.rotate(alg)
			}
		}
	})
	return err
}

// begins is when the key began to sign.
func (k *storedKey) begins() time.Time {
	if k.SignsFrom.IsZero() {
		return k.Created
	}
	return k.SignsFrom
}

// Run tends the ring from time to time until ctx ends, and returns its error. It is
// called once, and whoever calls it owns the goroutine.
func (r *Ring) Run(ctx context.Context) error {
	timer := time.NewTimer(upTo(tendFirst))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		if err := r.Tend(ctx); err != nil && ctx.Err() == nil {
			r.log.LogAttrs(ctx, slog.LevelWarn, "the signing keys could not be looked after", slog.Any("error", err))
		}
		timer.Reset(tendEvery + upTo(tendEvery))
	}
}

func upTo(d time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(d)))
	if err != nil {
		return d
	}
	return time.Duration(n.Int64())
}
