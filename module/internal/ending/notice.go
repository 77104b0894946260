package ending

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// noticeSlack is how far apart the clocks of nodes may be, for [Sweeper.ensureNotice].
const noticeSlack = time.Minute

// ensureNotice tells guards about an end unless they have been told. The request that ended a user or pair can fail
// after the end is stored and before guards know; whoever tries again may be signed out by then, so that nothing but
// the sweep is left to complete it. An end that is older than the sweep is left alone: its notice may have expired. Its
// epoch is at least the time of the end in Unix milliseconds.
func (s *Sweeper) ensureNotice(ctx context.Context, v *store.Sweep, r store.Revocation) error {
	if r.Epoch < v.Begun.Add(-noticeSlack).UnixMilli() {
		return nil
	}
	_, err := s.Store.Get(ctx, r.Key())
	if err == nil {
		return store.Confirm(ctx, s.Store, r.Key())
	}
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	r.At = s.Now()
	return s.Revocations.Revoke(ctx, r)
}
