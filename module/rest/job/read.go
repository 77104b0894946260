package job

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	maxID      = 64
	lookEvery  = 250 * time.Millisecond // while a client waits
	cancelTurn = 20                     // attempts to cancel a job that keeps changing
)

// Find returns a job to its owner. For everybody else the job does not exist.
func (q *Queue) Find(ctx context.Context, o Owner, id string) (*Job, error) {
	j, _, err := q.find(ctx, o, id)
	return j, err
}

func (q *Queue) find(ctx context.Context, o Owner, id string) (*Job, store.Record, error) {
	if !properID(id) {
		return nil, store.Record{}, store.ErrNotFound
	}
	j, r, err := q.loadJob(ctx, id)
	if err == nil && j.Owner != o {
		return nil, r, store.ErrNotFound
	}
	return j, r, err
}

// properID reports whether a job may have this ID, so that no other text reaches the store.
func properID(id string) bool {
	return id != "" && len(id) <= maxID &&
		strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// Cancel cancels a job for its owner: at once if it is waiting; if it is running, the upstream's
// request is cancelled, too, at once on this node and within seconds on another. Cancelling a
// cancelled job has no effect; cancelling one that has ended otherwise is a conflict.
func (q *Queue) Cancel(ctx context.Context, o Owner, id string) (*envelope.Refusal, error) {
	for range cancelTurn {
		j, r, err := q.find(ctx, o, id)
		if err != nil {
			return nil, err
		}
		if j.State == Cancelled {
			return nil, nil
		}
		if j.Cancel(q.Now()) != nil {
			return envelope.Refuse(http.StatusConflict, "the job has finished"), nil
		}
		_, err = q.saveJob(ctx, j, r)
		if errors.Is(err, store.ErrConflict) {
			continue // it was started, or its progress was written
		}
		if err != nil {
			return nil, err
		}
		q.Observer.Job(ctx, EventCancelled, j)
		q.Pool.Cancel(id, errCancelled)
		q.removeMark(ctx, id)
		return nil, nil
	}
	return nil, errors.New("job: it kept changing while it was being cancelled")
}

// Wait returns a job when it has ended, or in its current state when the time is up.
func (q *Queue) Wait(ctx context.Context, j *Job, limit time.Duration) *Job {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return j
		case <-tick.C:
		}
		now, _, err := q.loadJob(ctx, j.ID)
		if err != nil {
			continue // the job is accepted, even if it cannot be read now
		}
		if j = now; j.State.Final() {
			return j
		}
	}
}
