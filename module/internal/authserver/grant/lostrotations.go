package grant

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// lostKept is how long the outcome of a rotation is asked for.
	lostKept = time.Hour
	// retryTime is how long the replaced token is good for, once the store says that a
	// rotation took effect whose successor nobody was given.
	retryTime = time.Minute
)

// lostRotations are the rotations of this process that were answered 503 because the store
// did not say whether they took effect. If one did, nobody has the successor, and its
// client still holds the replaced token. When it repeats its request after the grace period
// it would be taken for a thief. So the record is told in the background that the replaced
// token may come again.
type lostRotations struct {
	families families
	backlog  *backlog[rotation, struct{}]
}

// rotation names one attempt to replace one refresh token.
type rotation struct {
	family     string
	generation uint64 // of the token that was presented
	at         int64  // RotatedAt, in nanoseconds
}

// rotationFrom is the rotation that began with this generation and led to g.
func rotationFrom(generation uint64, g store.Grant) rotation {
	return rotation{g.ID, generation, g.RotatedAt.UnixNano()}
}

// tookEffect reports whether g is what r made of it.
func (r rotation) tookEffect(g store.Grant) bool {
	return g.Generation == r.generation+1 && r == rotationFrom(r.generation, g)
}

func newLostRotations(f families) *lostRotations {
	l := &lostRotations{families: f}
	l.backlog = newBacklog(l.settle)
	return l
}

// add remembers a rotation that was answered 503.
func (l *lostRotations) add(r rotation) { l.backlog.add(r, struct{}{}, lostKept) }

// undelivered reports whether g is what a rotation made of it that was answered 503 here.
func (l *lostRotations) undelivered(generation uint64, g store.Grant) bool {
	r := rotationFrom(generation, g)
	_, ok := l.backlog.find(r)
	return ok && r.tookEffect(g)
}

// settle makes the record say that the replaced token may come again, if the rotation took
// effect. nil means that there is nothing left to do.
func (l *lostRotations) settle(ctx context.Context, r rotation, _ struct{}) error {
	f := l.families
	record, g, err := f.readFamily(ctx, r.family)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	case g.Revoked():
		return nil
	case g.Generation == r.generation:
		// The rotation may still be on its way to the store. Written anew, the record has
		// another version, so that it cannot take effect any more.
	case r.tookEffect(g):
		g.RetryUntil = f.Now().Add(retryTime)
	default:
		return nil
	}
	if err := f.swapFamily(ctx, record, g); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}
