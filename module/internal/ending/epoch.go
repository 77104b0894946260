package ending

import (
	"context"
	"errors"

	"github.com/gatehouse/gatehouse/module/store"
)

// Why an end is complete although nothing is listed and no clocks are compared:
//
//	sign-in:  (1) read the epoch counter = g   (2) check the password   (3) store a session of epoch g
//	end:      (A) increase the counter to n    (B) write n into the user's record   (C) tell the guards n
//
// Codes, grants and access tokens inherit the session's g. Every use of any of them reads the user's record and
// refuses a smaller epoch.
//
//   - A sign-in that read the counter before A has g < n. From B on everything that follows from it is dead, however
//     late it is written: the epoch counts, not the time of writing. Refreshing does not change the epoch. So no
//     operation needs to look again after it has committed: what it issues is dead at its next use, and the access
//     token carries g too and is refused by every guard that knows n.
//   - A sign-in that read the counter after A checked the password after the end was requested: it lives.
//
// An end of a pair is the same with the pair's record. What a client is issued carries the epoch of that record as it
// was before the permission (the remembered consent, or the button that was pressed) was read, and an end deletes the
// consent before it writes its epoch: whoever reads the new epoch finds no consent.
//
// Ends at the same moment may share one increase by their number: each takes another epoch above the former value,
// and the argument holds for each.
//
// The counter is at least the time in milliseconds, so that a store which lost its last writes (a failover of Redis)
// does not give out an epoch twice. If it has lost an end, nodes that keep running still refuse what that ended. They raise
// the counter to the highest epoch they know: otherwise they would refuse whoever signs in afterwards, too.

// CurrentEpoch returns the last epoch that was given out, 0 for none. It must be read before a password is checked.
// Errors are technical.
func CurrentEpoch(ctx context.Context, b store.Backend) (int64, error) {
	var v store.EpochCounter
	_, err := store.Read(ctx, b, store.EpochCounterKey(), &v)
	return v.Last, unlessAbsent(err)
}

// RaiseCounter raises the counter to an epoch that was given out; lost reports that the store had lost that. Errors are
// technical.
func RaiseCounter(ctx context.Context, b store.Backend, epoch int64) (lost bool, err error) {
	var v store.EpochCounter
	_, err = store.Change(ctx, b, store.Record{Key: store.EpochCounterKey()}, &v, func(*store.Record) (bool, error) {
		lost = v.Last < epoch
		v.Last = max(v.Last, epoch)
		return lost, nil
	})
	return lost && err == nil, err
}

var errLostCounter = errors.New("ending: the store has lost the last epochs that were given out")

// EndedSince reports whether a user, or the user at a client, was ended since the counter was read as epoch; client is ""
// for sessions. Every end increases the counter first. If that is behind, the store has lost its last writes, and nobody
// knows whether the end came before: the counter is raised, for the next attempt, and the error is technical, as all are.
func EndedSince(ctx context.Context, b store.Backend, subject, client string, epoch int64) (bool, error) {
	end, err := SubjectEpoch(ctx, b, subject)
	if err == nil && client != "" {
		var pair int64
		pair, err = PairEpoch(ctx, b, client, subject)
		end = max(end, pair)
	}
	if err != nil || end <= epoch {
		return false, err
	}
	lost, err := RaiseCounter(ctx, b, end)
	if lost {
		err = errLostCounter
	}
	return true, err
}

// PairEpoch returns the epoch of a user at a client, 0 for none. It must be read before the user's permission. Errors
// are technical.
func PairEpoch(ctx context.Context, b store.Backend, client, subject string) (int64, error) {
	var v store.Pair
	_, err := store.Read(ctx, b, store.PairKey(client, subject), &v)
	return v.Epoch, unlessAbsent(err)
}

// SubjectEpoch returns the epoch of a user's last end, 0 for none. Errors are technical.
func SubjectEpoch(ctx context.Context, b store.Backend, subject string) (int64, error) {
	var v store.Ended
	_, err := store.Read(ctx, b, store.EndedKey(subject), &v)
	return v.Epoch, unlessAbsent(err)
}

// Ended reports whether something with these epochs is dead. Without a client only the end of the user counts. Errors
// are technical: the answer is 503, never a refusal.
func Ended(ctx context.Context, b store.Backend, subject, client string, e store.Epochs) (bool, error) {
	j, err := NewJudge(ctx, b, subject)
	if err != nil {
		return false, err
	}
	return j.Ended(ctx, client, e)
}

// Judge decides about many records of one user, reading each client's epoch once. It is for one request: it does not
// see later ends.
type Judge struct {
	store   store.Backend
	subject string
	epoch   int64
	pairs   map[string]int64
}

// NewJudge reads the epoch of a user. Errors are technical.
func NewJudge(ctx context.Context, b store.Backend, subject string) (*Judge, error) {
	epoch, err := SubjectEpoch(ctx, b, subject)
	return &Judge{store: b, subject: subject, epoch: epoch}, err
}

// Ended reports whether something with these epochs is dead; client is "" for sessions.
func (j *Judge) Ended(ctx context.Context, client string, e store.Epochs) (bool, error) {
	if e.Subject < j.epoch || client == "" {
		return e.Subject < j.epoch, nil
	}
	epoch, known := j.pairs[client]
	if !known {
		var err error
		if epoch, err = PairEpoch(ctx, j.store, client, j.subject); err != nil {
			return false, err
		}
		if j.pairs == nil {
			j.pairs = make(map[string]int64)
		}
		j.pairs[client] = epoch
	}
	return e.Pair < epoch, nil
}

func unlessAbsent(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
