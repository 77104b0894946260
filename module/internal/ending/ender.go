package ending

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// minKept is the least time for which the record of an end is kept. Everything issued before is deleted or expired
// long before that, whatever the lifetimes of earlier configurations.
const minKept = 400 * 24 * time.Hour

// reuseSweepFor is how old a sweep that nobody has begun may be to serve another end of the same user as well. It is
// small compared with lastPassAfter.
const reuseSweepFor = 5 * time.Second

// Revoker makes every guard refuse something. When it returns nil that is durable, and in force in this process;
// other nodes follow within a second.
type Revoker interface {
	Revoke(ctx context.Context, r store.Revocation) error
}

// Config is what an [Ender] needs.
type Config struct {
	Store       store.Backend
	Revocations Revoker
	// Longest is the longest life of anything a user is issued.
	Longest time.Duration
	// Wake is called when there is something to sweep; optional.
	Wake func()
	Now  func() time.Time
}

// Ender ends users and pairs. It is safe for concurrent use.
type Ender struct {
	Config
	counter *counter
}

// NewEnder checks the configuration.
func NewEnder(c Config) (*Ender, error) {
	if c.Store == nil || c.Revocations == nil || c.Now == nil || c.Longest < 0 {
		return nil, errors.New("ending: an incomplete Config")
	}
	if c.Wake == nil {
		c.Wake = func() {}
	}
	return &Ender{c, newCounter(c.Store)}, nil
}

// EndSubject ends every session, code, grant and access token of a user whose sign-in began before the call. When it
// returns nil that is durable; guards of other nodes follow within a second. Its cost does not depend on how much
// there is. Errors are technical, and the caller may try again.
func (e *Ender) EndSubject(ctx context.Context, subject string) error {
	epoch, err := e.beginEnd(ctx, subject)
	if err != nil {
		return err
	}
	var v store.Ended
	_, err = store.Change(ctx, e.Store, store.Record{Key: store.EndedKey(subject)}, &v, func(rec *store.Record) (bool, error) {
		if v.Epoch >= epoch { // a later end was faster
			return false, store.Confirm(ctx, e.Store, rec.Key)
		}
		v.Subject, v.Epoch, v.At = subject, epoch, e.Now()
		rec.Expires = e.keepUntil(rec.Expires)
		return true, nil
	})
	if err != nil {
		return err
	}
	return e.notifyGuards(ctx, subjectNotice(subject, epoch))
}

// EndPair does the same for what was issued to one client on behalf of a user. The caller deletes the remembered
// consent first.
func (e *Ender) EndPair(ctx context.Context, client, subject string) error {
	epoch, err := e.beginEnd(ctx, subject)
	if err != nil {
		return err
	}
	var v store.Pair
	r := store.Record{Key: store.PairKey(client, subject), Parent: subject}
	_, err = store.Change(ctx, e.Store, r, &v, func(rec *store.Record) (bool, error) {
		if v.Epoch >= epoch {
			return false, store.Confirm(ctx, e.Store, rec.Key)
		}
		v.Client, v.Subject, v.Epoch, v.Grants = client, subject, epoch, nil
		rec.Expires = e.keepUntil(rec.Expires)
		return true, nil
	})
	if err != nil {
		return err
	}
	return e.notifyGuards(ctx, pairNotice(client, subject, epoch))
}

// beginEnd takes an epoch and stores that there will be something to sweep, in case this process ends before.
func (e *Ender) beginEnd(ctx context.Context, subject string) (epoch int64, err error) {
	if epoch, err = e.counter.nextEpoch(ctx, e.Now()); err != nil {
		return 0, err
	}
	var v store.Sweep
	r := store.Record{Key: store.SweepKey(subject), Parent: store.SweepParent}
	_, err = store.Change(ctx, e.Store, r, &v, func(*store.Record) (bool, error) {
		now := e.Now()
		if since := now.Sub(v.Begun); v.Kind == "" && v.Lease.IsZero() && 0 <= since && since < reuseSweepFor {
			return false, nil // the sweep of a moment ago has not begun
		}
		v = store.Sweep{Subject: subject, Begun: now, Deleted: v.Deleted}
		return true, nil
	})
	return epoch, err
}

func (e *Ender) notifyGuards(ctx context.Context, r store.Revocation) error {
	e.Wake()
	r.At = e.Now() // for guards of an earlier release, which know times only
	return e.Revocations.Revoke(ctx, r)
}

func subjectNotice(subject string, epoch int64) store.Revocation {
	return store.Revocation{Of: store.RevokeSubject, Value: subject, Epoch: epoch}
}

func pairNotice(client, subject string, epoch int64) store.Revocation {
	return store.Revocation{Of: store.RevokePair, Value: store.PairID(client, subject), Epoch: epoch, Client: client}
}

// keepUntil is the expiry of the record of an end.
func (e *Ender) keepUntil(before time.Time) time.Time {
	if end := e.Now().Add(max(minKept, 2*e.Longest)); end.After(before) {
		return end
	}
	return before
}
