package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// Reasons for which a run ends early.
var (
	errCancelled = errors.New("job: cancelled")
	errShutdown  = errors.New("job: the process ends")
	errTimeout   = errors.New("job: the upstream takes too long")
	errLost      = errors.New("job: the lease was lost")
)

const (
	beat      = time.Second // how often a run renews its record
	storeTime = 5 * time.Second
	// endTime is how long the gateway tries to store an outcome.
	endTime = 10 * time.Minute
)

// run is a job that runs on this node.
type run struct {
	q      *Queue
	fence  uint64
	cancel context.CancelCauseFunc
	answer *Recorder

	mu     sync.Mutex // guards the rest
	job    *Job
	record store.Record
	file   *file
	gone   bool // another node ends the job
	ended  bool // because this run has ended it
}

// startRun runs a claimed job on this node, whose worker it has. It calls release when the run is over.
func (q *Queue) startRun(j *Job, r store.Record, release func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	this := &run{q: q, fence: j.Fence, cancel: cancel, job: j, record: r, answer: &Recorder{header: make(map[string][]string), told: q.progress}}
	q.Observer.Running(1)
	q.Pool.Run(j.ID, cancel, func() {
		defer q.Observer.Running(-1)
		this.doJob(ctx)
	}, release)
}

// doJob runs the job and stores the outcome.
func (r *run) doJob(ctx context.Context) {
	beating, rest := context.WithCancel(context.Background())
	var keeper sync.WaitGroup
	keeper.Go(func() { r.keepLease(beating) })
	failure := r.fetchAndSend(ctx)
	rest()
	keeper.Wait()
	r.storeOutcome(context.Cause(ctx), failure)
}

// checkPermit fails a job whose caller was stopped since it was made. It waits for a store that is unavailable.
func (r *run) checkPermit(ctx context.Context, j *Job) *Failure {
	if j.Input.Permit == nil {
		return nil
	}
	for {
		asking, cancel := context.WithTimeout(ctx, storeTime)
		permitted, err := r.q.Permitted(asking, j)
		cancel()
		switch {
		case err == nil && permitted:
			return nil
		case err == nil:
			return AccessEnded.Failure()
		case store.Sleep(ctx, beat) != nil:
			return UpstreamFailed.Failure() // the cause of ctx decides what is stored
		}
	}
}

// fetchAndSend fetches the file and sends the request to the upstream, if its caller may still do that.
func (r *run) fetchAndSend(ctx context.Context) (failure *Failure) {
	q := r.q
	task := Task{Job: r.copyJob(), Config: &q.Config, Answer: r.answer}
	defer func() {
		// No caller recovers in this goroutine, and one job must not end the process.
		if p := recover(); p != nil {
			q.Log.Error("a job panicked", "queue", q.Name, "job", task.Job.ID, "panic", fmt.Sprint(p))
			failure = UpstreamFailed.Failure()
		}
	}()
	if failure := r.checkPermit(ctx, task.Job); failure != nil {
		return failure
	}
	in := task.Job.Input
	if q.Fetch == nil {
		task.Upload = bodyUpload(in)
	} else {
		f, failure := q.fetcher.openFile(ctx, in.URL)
		if failure != nil {
			q.Observer.File(ctx, Code(failure.Code), task.Job)
			return failure
		}
		defer f.Close()
		r.mu.Lock()
		r.file = f
		r.mu.Unlock()
		var err error
		if task.Upload, err = q.Fetch.newUpload(f); err != nil {
			return UpstreamFailed.Failure()
		}
		// The file's server may be the caller's, and have taken its time.
		if failure := r.checkPermit(ctx, task.Job); failure != nil {
			return failure
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, q.Timeout, errTimeout)
	defer cancel()
	failure = q.Do(ctx, task)
	if r.file != nil {
		broken := r.file.Failure()
		if broken != nil {
			q.Observer.File(ctx, Code(broken.Code), task.Job)
			return broken // whatever the upstream answers to an incomplete file
		}
		if failure == nil {
			q.Observer.File(ctx, "", task.Job)
		}
	}
	if failure != nil && errors.Is(context.Cause(ctx), errTimeout) {
		return Timeout.Failure()
	}
	return failure
}

// copyJob returns a copy to read while the run goes on.
func (r *run) copyJob() *Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := *r.job
	return &j
}

// keepLease renews the lease, stores the progress, and notices if the job was cancelled or taken
// over by another node.
func (r *run) keepLease(ctx context.Context) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	renewed := r.q.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if r.readBack(ctx) {
			return
		}
		now := r.q.Now()
		progress := r.progress()
		if now.Sub(renewed) < renewAfter && !r.news(progress) {
			continue
		}
		if r.renew(ctx, now, progress) {
			renewed = now
		} else if r.q.Retry > 0 && now.Sub(renewed) > lease {
			// Another node may have started it again.
			r.cancel(errLost)
		}
	}
}

func (r *run) progress() *int {
	if told := r.answer.progress.Load(); told != nil || r.q.progress != nil {
		return told
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	return r.file.Progress()
}

func (r *run) news(progress *int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return progress != nil && (r.job.Progress == nil || *progress != *r.job.Progress)
}

// readBack reads the job, and reports whether it no longer belongs to this run.
func (r *run) readBack(ctx context.Context) (gone bool) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	now, record, err := r.q.loadJob(ctx, r.job.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return false // nothing is known, so the work goes on
	case now.held(r.fence) == nil:
		r.job, r.record = now, record // as written, although the store did not answer
		return false
	}
	r.gone = true
	why := errLost
	if now != nil && now.State == Cancelled {
		why = errCancelled
	} else if now != nil && now.Fence == r.fence && now.State.Final() && now.ended() != EventInterrupted {
		r.ended = true // by a write whose answer was lost; only interruptions are reported by other nodes
		r.q.Observer.Job(ctx, now.ended(), now)
	}
	r.cancel(why)
	return true
}

func (r *run) renew(ctx context.Context, now time.Time, progress *int) bool {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	j := *r.job
	if j.Renew(now, r.fence, progress) != nil {
		return false
	}
	record, err := r.q.saveJob(ctx, &j, r.record)
	if err != nil {
		return false // the next read says why
	}
	r.job, r.record = &j, record
	return true
}

// storeOutcome stores the outcome as long as the job belongs to this run. It waits for a store
// that is unavailable: the upstream has done its part, and will not be called again.
func (r *run) storeOutcome(why error, failure *Failure) {
	q := r.q
	r.answer.finishAnswer()
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	for pause := 50 * time.Millisecond; !r.gone; pause = min(2*pause, 5*time.Second) {
		err := r.tryOutcome(ctx, why, failure)
		if err == nil {
			r.ended = r.job.State.Final()
			q.Observer.Job(ctx, r.job.ended(), r.job)
			break
		}
		if ctx.Err() != nil {
			q.Log.Error("the outcome of a job could not be stored", "queue", q.Name, "job", r.job.ID, "error", err)
			return
		}
		if !errors.Is(err, store.ErrConflict) { // readBack determines at once what a conflict means
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
		r.readBack(ctx)
	}
	switch {
	case r.ended:
		q.removeMark(ctx, r.job.ID)
	case r.gone && !errors.Is(why, errCancelled):
		q.Log.Warn("the outcome of a job came too late: the job no longer belongs to this node", "queue", q.Name, "job", r.job.ID)
	}
}

// tryOutcome tries once to store the outcome.
func (r *run) tryOutcome(ctx context.Context, why error, failure *Failure) error {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	now := r.q.Now()
	j := *r.job
	var err error
	switch {
	case failure != nil && (errors.Is(why, errShutdown) || errors.Is(why, errLost)):
		err = j.Interrupt(now, r.q.Retry)
	case failure != nil:
		err = j.Fail(now, r.fence, *failure)
	case r.answer.status >= 400:
		err = j.Fail(now, r.fence, *failureOf(r.answer.body))
	case r.answer.status >= 300:
		err = j.Fail(now, r.fence, *UpstreamFailed.Failure())
	default:
		err = j.Succeed(now, r.fence, r.result())
	}
	if err != nil {
		return err
	}
	record, err := r.q.saveJob(ctx, &j, r.record)
	if err == nil {
		r.job, r.record = &j, record
	}
	return err
}

// result returns the answer, or the declared part of its last line. From an answer that is not
// JSON lines the translation has already taken the part.
func (r *run) result() Result {
	body := r.answer.body
	if r.answer.lines {
		plan := r.answer.part
		if plan == nil {
			plan = r.q.result
		}
		body = valueAt(body, plan)
	}
	return newResult(body, r.answer.cut)
}

// bodyUpload passes on the request's own body.
func bodyUpload(in *Input) Upload {
	u := Upload{Body: bytes.NewReader(in.Body), Length: int64(len(in.Body)), Header: make(map[string][]string)}
	if in.ContentType != "" {
		u.Header.Set("Content-Type", in.ContentType)
	}
	return u
}
