package job

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	lookAround = 2 * time.Second // how often a queue is searched for other nodes' jobs
	lookTimely = 10 * time.Second
	// lookEverywhere is how often a queue is searched to its end, although no worker is free.
	lookEverywhere = 10 * time.Second
	// orphanAge is how long a mark is without a job before it is known to be abandoned: storing a
	// job takes less time.
	orphanAge = 6 * admitTime
)

// Start starts running jobs.
func (q *Queue) Start() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stop != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	q.stop, q.looping = cancel, make(chan struct{})
	q.Pool.Join(q.inPool)
	go func(done chan struct{}) {
		defer close(done)
		defer q.Pool.Leave(q.inPool)
		q.loop(ctx)
	}(q.looping)
}

// Stop starts no more jobs, except for one that is just being claimed. Running jobs continue.
func (q *Queue) Stop() {
	q.mu.Lock()
	stop, done := q.stop, q.looping
	q.stop = nil
	q.mu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
}

// Drain is for the end of the process: after Stop, it waits for running jobs of the queue until grace is
// over, then interrupts them, whatever configuration they began under.
func (q *Queue) Drain(grace time.Duration) { q.Pool.Drain(grace, errShutdown) }

func (q *Queue) loop(ctx context.Context) {
	tick := time.NewTicker(lookAround)
	defer tick.Stop()
	everywhere := time.NewTicker(lookEverywhere)
	defer everywhere.Stop()
	for all := true; ctx.Err() == nil; {
		if err := q.lookThrough(ctx, all); err != nil && ctx.Err() == nil {
			q.Log.Error("the waiting jobs cannot be listed", "queue", q.Name, "error", err)
		}
		all = false
		select {
		case <-ctx.Done():
		case <-q.inPool.Wake:
		case <-tick.C:
		case <-everywhere.C:
			all = true
		}
	}
}

// lookThrough processes waiting jobs and those whose lease was not renewed, in the order of [workers.Pool.Sort]. Unless all
// are to be processed, it leaves out what is behind the first job that has no free worker: of the same caller, or of everybody.
// Another node may have started some of these and ended. A job that cannot be read stays for a node of the release that wrote
// it.
func (q *Queue) lookThrough(ctx context.Context, all bool) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimely)
	defer cancel()
	begin := q.Now()
	marks, err := q.listMarks(ctx, maxQueue+1)
	if err != nil || q.Now().Sub(begin) > beat {
		clear(q.seen) // the others could not renew their leases either
	}
	if err != nil {
		q.backlog.Store(-1)
		return err
	}
	q.backlog.Store(int64(len(marks)))
	listed := make(map[string]bool, len(marks))
	for _, m := range marks {
		listed[m.ID] = true
	}
	maps.DeleteFunc(q.doubtful, func(id, _ string) bool { return !listed[id] })
	maps.DeleteFunc(q.seen, func(id string, _ sighting) bool { return !listed[id] })
	waits := make(map[mark]bool) // the callers whose first waiting job has no free worker
	for _, m := range q.Pool.Sort(marks) {
		if q.Pool.Has(m.ID) || !all && (waits[m.Caller()] || len(waits) > 0 && q.Pool.Free(m.Caller()) == 0) {
			continue
		}
		err := q.processMark(ctx, m)
		switch {
		case errors.Is(err, errUnreadable):
			q.Log.Error("a waiting job cannot be read", "queue", q.Name, "job", m.ID, "error", err)
		case errors.Is(err, errBusy):
			waits[m.Caller()] = true
		case err != nil:
			return err
		}
	}
	return nil
}

// errBusy says that a job waits for a free worker.
var errBusy = errors.New("job: no worker is free for this caller")

// processMark does what one job needs: it removes its mark, ends or retries a run that was
// interrupted, or starts a new one.
func (q *Queue) processMark(ctx context.Context, m mark) error {
	j, r, err := q.loadJob(ctx, m.ID)
	// A Stop does not interrupt a write: nobody would know whether it took effect, and the next configuration
	// would take a claimed job for that of a dead process.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	now := q.Now()
	switch {
	case errors.Is(err, store.ErrNotFound) && q.unchangedFor(m.ID, nil, now) <= orphanAge:
		return nil
	case errors.Is(err, store.ErrNotFound), err == nil && j.State.Final():
		return q.deleteMark(ctx, m.ID)
	case err != nil:
		return err
	case q.isLost(j, now) && !q.isOurs(j):
		if r, err = q.retryLostJob(ctx, j, r, now); err != nil {
			return unlessLost(err)
		}
		if j.State.Final() {
			return q.deleteMark(ctx, m.ID)
		}
	}
	first := j.State == Queued && j.Fence == 0
	switch {
	case !q.claimJob(j, now):
		return nil
	case q.Pool.Take(m):
		return q.runClaimed(ctx, j, r)
	case first:
		return errBusy
	}
	return nil
}

// runClaimed stores the claim of a job that has a worker, and starts the job.
func (q *Queue) runClaimed(ctx context.Context, j *Job, r store.Record) error {
	release, err := q.Hold()
	if err != nil {
		q.Pool.GiveBack(j.ID)
		return err
	}
	if r, err = q.saveJob(ctx, j, r); err != nil {
		q.Pool.GiveBack(j.ID)
		release()
		if err = unlessLost(err); err != nil {
			q.doubtful[j.ID] = j.Claimed
		}
		return err
	}
	delete(q.doubtful, j.ID)
	q.startRun(j, r, release)
	return nil
}

// claimJob claims a waiting job, or one that belongs to this node without a run.
func (q *Queue) claimJob(j *Job, now time.Time) bool {
	if q.isOurs(j) {
		return j.Renew(now, j.Fence, nil) == nil
	}
	if j.State != Queued || j.Claim(now, q.Node) != nil {
		return false
	}
	if j.Claimed = q.doubtful[j.ID]; j.Claimed == "" {
		j.Claimed = q.NewID()
	}
	return true
}

// isOurs reports whether a claim took effect although the store did not answer: the job belongs
// to this node, which has sent nothing for it yet.
func (q *Queue) isOurs(j *Job) bool {
	mine := q.doubtful[j.ID]
	return mine != "" && j.State == Running && j.Claimed == mine
}

// unlessLost returns nil for the error that another node was faster.
func unlessLost(err error) error {
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
