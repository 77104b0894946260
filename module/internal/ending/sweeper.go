package ending

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// sweepPage is how many records are read, and deleted together, at a time.
	sweepPage = 100
	// sweepPages is how many pages one user gets before the next user's turn.
	sweepPages = 50
	// sweepWorkers is how many records are deleted at the same moment: a store on disk commits them together.
	sweepWorkers = 25
	// sweepUsers is how many users' sweeps are read at a time.
	sweepUsers = 100
	// lease is how long a node that works on a sweep is left alone with it.
	lease = 30 * time.Second
	// lastPassAfter is how long after an end the last pass begins: by then everything in progress during the end has
	// been written.
	lastPassAfter = time.Minute
	// lookEvery is how often to look for sweeps that another process left behind.
	lookEvery = 10 * time.Second
	// maxFaults is how many users' sweeps may fail before the store counts as down. A fault of one user, such as a
	// record that cannot be read, does not delay the others.
	maxFaults = 10
	// deadKept is how long dead codes are kept, and grants of Variant B. While the form that made a code can be sent
	// again, a deleted record would let the same code be made again; and Variant B has an error code of its own for a
	// revoked grant.
	deadKept = 30 * time.Minute
)

// sweptKinds are the kinds of records to sweep, in this order.
var sweptKinds = []store.Kind{store.KindSession, store.KindCode, store.KindGrant, store.KindPair}

// SweeperConfig is what a [Sweeper] needs.
type SweeperConfig struct {
	Store store.Backend
	// Revocations tells guards about ends whose request failed before it could.
	Revocations Revoker
	// Log reports finished sweeps and faults; nil is silent.
	Log *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
}

// Sweeper deletes what has ended. Its progress is in the store, so any node goes on where another one stopped; two
// that work on the same do no harm. It is safe for concurrent use.
type Sweeper struct {
	SweeperConfig
	wake chan struct{}

	mu   sync.Mutex
	from string // the ID of the sweep behind which the next Sweep begins, "" for the first
}

// NewSweeper checks the configuration.
func NewSweeper(c SweeperConfig) (*Sweeper, error) {
	if c.Store == nil || c.Revocations == nil {
		return nil, errors.New("ending: a sweeper needs a store and revocations")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Sweeper{SweeperConfig: c, wake: make(chan struct{}, 1)}, nil
}

// Wake makes Run look for work at once.
func (s *Sweeper) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run sweeps until ctx ends and returns its error. It is called once, and the caller owns the goroutine.
func (s *Sweeper) Run(ctx context.Context) error {
	timer := time.NewTimer(0) // the process before may have left something
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		case <-s.wake:
		}
		more, err := s.Sweep(ctx)
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("what was ended is not deleted yet", slog.Any("error", err))
		}
		if more {
			s.Wake()
		}
		timer.Reset(lookEvery)
	}
}

// Sweep gives every pending sweep a turn; more says that one of them used its turn up. After maxFaults failed turns
// it stops, and the next call begins behind the last of them. Errors are technical, and calling again goes on.
func (s *Sweeper) Sweep(ctx context.Context) (more bool, err error) {
	var faults []error
	s.mu.Lock()
	after := s.from
	s.from = ""
	s.mu.Unlock()
	for {
		all, err := s.Store.List(ctx, store.KindSweep, store.SweepParent, after, sweepUsers)
		if err != nil || len(all) == 0 {
			return more, errors.Join(append(faults, err)...)
		}
		for _, rec := range all {
			again, err := s.workOnSweep(ctx, rec)
			more = more || again
			if err == nil {
				continue
			}
			faults = append(faults, err)
			if len(faults) == maxFaults {
				s.mu.Lock()
				s.from = rec.ID
				s.mu.Unlock()
			}
			if len(faults) == maxFaults || ctx.Err() != nil {
				return more, errors.Join(faults...)
			}
		}
		after = all[len(all)-1].ID
	}
}

// workOnSweep works on one sweep, unless another node does or nothing is due yet.
func (s *Sweeper) workOnSweep(ctx context.Context, rec store.Record) (more bool, err error) {
	var v store.Sweep
	if err := store.Decode(rec.Value, &v); err != nil {
		s.Log.Error("a sweep of a newer release is left alone", slog.Any("error", err))
		return false, nil
	}
	now := s.Now()
	if now.Before(v.Lease) {
		return false, nil
	}
	if v.Kind == "" { // a new pass
		v.Kind, v.Late = sweptKinds[0], now.Sub(v.Begun) >= lastPassAfter
	}
	for range sweepPages {
		began := s.Now()
		v.Lease = began.Add(lease)
		if rec, err = s.saveProgress(ctx, rec, &v); err != nil || rec.Version == 0 {
			return false, err
		}
		done, err := s.sweepOnePage(ctx, &v)
		if err != nil {
			s.releaseLease(ctx, rec, v)
			return false, err
		}
		if done {
			return s.endPass(ctx, rec, v)
		}
		// Leave the store to others for as long as the page took.
		if err := store.Sleep(ctx, min(s.Now().Sub(began), time.Second)); err != nil {
			s.releaseLease(ctx, rec, v)
			return false, err
		}
	}
	v.Lease = time.Time{}
	_, err = s.saveProgress(ctx, rec, &v)
	return true, err
}

// releaseLease gives a sweep up, so that the next process need not wait for the lease to end. If that fails, the
// lease ends by itself.
func (s *Sweeper) releaseLease(ctx context.Context, rec store.Record, v store.Sweep) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	v.Lease = time.Time{}
	_, _ = s.saveProgress(ctx, rec, &v)
}

// endPass deletes the sweep when its last pass is done, and otherwise leaves it alone until that is due.
func (s *Sweeper) endPass(ctx context.Context, rec store.Record, v store.Sweep) (more bool, err error) {
	if v.Late {
		s.Log.Info("what was ended is deleted", slog.Int("records", v.Deleted))
		return false, s.Store.Delete(ctx, rec.Key)
	}
	v.Kind, v.After, v.Lease = "", "", v.Begun.Add(lastPassAfter)
	_, err = s.saveProgress(ctx, rec, &v)
	return false, err
}

// saveProgress writes how far a sweep has come. The version is 0, without an error, when somebody else wrote
// meanwhile: there was another end, or another node has taken over.
func (s *Sweeper) saveProgress(ctx context.Context, rec store.Record, v *store.Sweep) (store.Record, error) {
	rec, err := store.Swap(ctx, s.Store, rec, v)
	if store.IsAnswer(err) {
		return store.Record{}, nil
	}
	return rec, err
}

// sweepOnePage sweeps one page of records and moves v on; done says that it was the last.
func (s *Sweeper) sweepOnePage(ctx context.Context, v *store.Sweep) (done bool, err error) {
	judge, err := NewJudge(ctx, s.Store, v.Subject)
	if err != nil {
		return false, err
	}
	if v.Kind == sweptKinds[0] && v.After == "" {
		err = s.ensureNotice(ctx, v, subjectNotice(v.Subject, judge.epoch))
	}
	if err != nil {
		return false, err
	}
	all, err := s.Store.List(ctx, v.Kind, v.Subject, v.After, sweepPage)
	if err != nil {
		return false, err
	}
	var dead []store.Record
	for _, rec := range all {
		ended, err := isDead(ctx, judge, rec)
		if p := (store.Pair{}); err == nil && rec.Kind == store.KindPair && store.Decode(rec.Value, &p) == nil {
			err = s.ensureNotice(ctx, v, pairNotice(p.Client, p.Subject, p.Epoch))
		}
		if err != nil {
			return false, err
		}
		if ended {
			dead = append(dead, rec)
		}
	}
	n, err := s.deleteRecords(ctx, judge, dead)
	v.Deleted += n
	if err != nil {
		return false, err
	}
	if len(all) == sweepPage {
		v.After = all[len(all)-1].ID
		return false, nil
	}
	next := slices.Index(sweptKinds, v.Kind) + 1
	if next == 0 || next == len(sweptKinds) {
		return true, nil
	}
	v.Kind, v.After = sweptKinds[next], ""
	return false, nil
}

// isDead reports whether there is something to sweep in a record. A newer release wrote those that cannot be read,
// and sweeps them.
func isDead(ctx context.Context, judge *Judge, rec store.Record) (bool, error) {
	switch rec.Kind {
	case store.KindSession:
		var v store.Session
		if store.Decode(rec.Value, &v) == nil {
			return judge.Ended(ctx, "", store.Epochs{Subject: v.Epoch})
		}
	case store.KindCode:
		var v store.Code
		if store.Decode(rec.Value, &v) == nil {
			return judge.isDeadCode(ctx, v)
		}
	case store.KindGrant:
		var v store.Grant
		if store.Decode(rec.Value, &v) == nil {
			return judge.Ended(ctx, v.Client, v.Epochs)
		}
	case store.KindPair:
		var v store.Pair
		if store.Decode(rec.Value, &v) == nil {
			return judge.dropEnded(&v), nil
		}
	}
	return false, nil
}

// isDeadCode reports whether a code is dead. What is missing in a trimmed one is in its grant, which outlives everything
// that was issued.
func (j *Judge) isDeadCode(ctx context.Context, c store.Code) (bool, error) {
	if !c.Trimmed() {
		return j.Ended(ctx, c.Client, c.Epochs)
	}
	var g store.Grant
	_, err := store.Read(ctx, j.store, store.Key{Kind: store.KindGrant, ID: c.Grant}, &g)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return j.Ended(ctx, g.Client, g.Epochs)
}

// deleteRecords deletes dead records, some at a time, and counts them.
func (s *Sweeper) deleteRecords(ctx context.Context, judge *Judge, dead []store.Record) (deleted int, err error) {
	var n atomic.Int64
	var all errgroup.Group
	all.SetLimit(sweepWorkers)
	for _, rec := range dead {
		all.Go(func() error {
			err := s.deleteRecord(ctx, judge, rec)
			if err == nil {
				n.Add(1)
			}
			return err
		})
	}
	err = all.Wait()
	return int(n.Load()), err
}

// deleteRecord deletes one dead record. Some expire a little later, and of a pair's record only the dead grants go.
func (s *Sweeper) deleteRecord(ctx context.Context, judge *Judge, rec store.Record) error {
	switch rec.Kind {
	case store.KindCode:
		return Expire(ctx, s.Store, rec, s.Now().Add(deadKept))
	case store.KindGrant:
		var v store.Grant
		if store.Decode(rec.Value, &v) == nil && v.Dialect == store.DialectVariantB {
			return Expire(ctx, s.Store, rec, s.Now().Add(deadKept))
		}
	case store.KindPair:
		var v store.Pair
		_, err := store.Change(ctx, s.Store, store.Record{Key: rec.Key, Parent: rec.Parent}, &v, func(now *store.Record) (bool, error) {
			return now.Version != 0 && judge.dropEnded(&v), nil
		})
		return err
	}
	return s.Store.Delete(ctx, rec.Key)
}

// dropEnded removes the grants that ended with their user from the list.
func (j *Judge) dropEnded(p *store.Pair) (dropped bool) {
	n := len(p.Grants)
	p.Grants = slices.DeleteFunc(p.Grants, func(g store.PairGrant) bool { return g.Epoch < j.epoch })
	return len(p.Grants) < n
}

// Expire makes a record expire earlier. It is no error if the record changed meanwhile or is gone.
func Expire(ctx context.Context, b store.Backend, rec store.Record, at time.Time) error {
	if !rec.Expires.IsZero() && !at.Before(rec.Expires) {
		return nil
	}
	rec.Expires = at
	if _, err := b.Swap(ctx, rec); err != nil && !store.IsAnswer(err) {
		return err
	}
	return nil
}
