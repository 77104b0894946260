package job

import (
	"context"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// Interrupt records that the holder of a running job has stopped: the job is queued again if it may
// be retried, and fails otherwise. retry is how many retries are allowed; the fence counts the runs.
func (j *Job) Interrupt(now time.Time, retry int) error {
	if j.State != Running {
		return ErrState
	}
	if j.Fence <= uint64(max(retry, 0)) {
		j.State, j.Progress, j.Node, j.Until, j.Claimed = Queued, nil, "", time.Time{}, ""
		return nil
	}
	j.endIn(now, Failed)
	j.Failure = Interrupted.Failure()
	return nil
}

// retryLostJob interrupts a job whose node has stopped: it is queued again, or fails. It returns the
// stored record.
func (q *Queue) retryLostJob(ctx context.Context, j *Job, r store.Record, now time.Time) (store.Record, error) {
	if err := j.Interrupt(now, q.Retry); err != nil {
		return r, err
	}
	q.Log.Warn("a job was interrupted", "queue", q.Name, "job", j.ID, "state", string(j.State))
	r, err := q.saveJob(ctx, j, r)
	if err == nil {
		q.Observer.Job(ctx, j.ended(), j)
	}
	return r, err
}
