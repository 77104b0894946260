package grant

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// lostKept is how long a lost rotation is remembered.
	lostKept = time.Hour
	// retryTime is how long the replaced token is accepted again, once the store shows that a rotation took effect
	// whose successor was not delivered.
	retryTime = time.Minute
)

// refreshToken.lost has the rotations of this process that were answered 503 because the store did not say whether
// they took effect. If one did, nobody has the successor, and a client that repeats its request after the grace
// period would look like a thief. So the record is changed in the background to accept the replaced token once more.

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

// lostRotation reports whether g is the result of a rotation that was answered 503 here.
func (g *refreshToken) lostRotation(generation uint64, family store.Grant) bool {
	r := rotationFrom(generation, family)
	_, ok := g.lost.find(r)
	return ok && r.tookEffect(family)
}

// settleRotation makes the record accept the replaced token again, if the rotation took effect. nil means that there
// is nothing left to do.
func (f *Families) settleRotation(ctx context.Context, r rotation, _ struct{}) error {
	record, g, err := f.readFamily(ctx, r.family)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	case g.Revoked():
		return nil
	case g.Generation == r.generation:
		// The rotation may still be on its way to the store. Written again, the record has another version, so that
		// it cannot take effect any more.
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
