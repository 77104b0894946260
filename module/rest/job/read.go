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
	cancelTurn = 20                     // how often a job that changes is tried to be cancelled
)

// Find returns a job to its owner. To all others there is no such job.
func (q *Queue) Find(ctx context.Context, o Owner, id string) (*Job, error) {
	j, _, err := q.find(ctx, o, id)
	return j, err
}

func (q *Queue) find(ctx context.Context, o Owner, id string) (*Job, store.Record, error) {
	if !properID(id) {
		return nil, store.Record{}, store.ErrNotFound
	}
	j, r, err := q.load(ctx, id)
	if err == nil && j.Owner != o {
		return nil, r, store.ErrNotFound
	}
	return j, r, err
}

// properID keeps what no job is called away from the store.
func properID(id string) bool {
	return id != "" && len(id) <= maxID &&
		strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// Cancel ends a job for its owner: at once if it waits; if it runs, the upstream's request
// is ended too, here at once and on another node within seconds. One that is cancelled
// stays so; one that has ended otherwise is a conflict.
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
		_, err = q.save(ctx, j, r)
		if errors.Is(err, store.ErrConflict) {
			continue // it was taken up, or its progress was written
		}
		if err != nil {
			return nil, err
		}
		q.Observer.Job(ctx, EventCancelled, j)
		q.abort(id)
		q.withdraw(ctx, id)
		return nil, nil
	}
	return nil, errors.New("job: it changed at every try to cancel it")
}

// Wait returns a job when it has ended, or as it is when the time is up.
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
		now, _, err := q.load(ctx, j.ID)
		if err != nil {
			continue // it is accepted, whatever can be said of it now
		}
		if j = now; j.State.Final() {
			return j
		}
	}
}
