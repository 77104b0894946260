package restapi

import (
	"cmp"
	"context"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/rest/job"
)

// jobWatch counts what becomes of the jobs of a queue, and tells the audit trail.
type jobWatch struct {
	queue  string
	trail  audit.Sink
	counts map[job.Event]metrics.Counter
	runs   metrics.Gauge
	set    metrics.Set
}

func newJobWatch(queue string, trail audit.Sink) *jobWatch {
	w := &jobWatch{queue: queue, trail: trail, counts: make(map[job.Event]metrics.Counter, len(job.Events))}
	for _, e := range job.Events {
		w.counts[e] = w.set.Job(queue, string(e))
	}
	w.runs = w.set.JobsRunning(queue)
	return w
}

// Job implements [job.Observer].
func (w *jobWatch) Job(ctx context.Context, e job.Event, j *job.Job) {
	w.counts[e].Inc()
	switch e {
	case job.EventAccepted:
		w.record(ctx, audit.JobAccepted, w.queue, j)
	case job.EventSucceeded, job.EventFailed, job.EventInterrupted, job.EventCancelled:
		w.record(ctx, audit.JobEnded, string(e), j)
	}
}

// Running implements [job.Observer].
func (w *jobWatch) Running(more int) { w.runs.Add(float64(more)) }

// File implements [job.Observer].
func (w *jobWatch) File(ctx context.Context, c job.Code, j *job.Job) {
	w.set.JobFile(cmp.Or(strings.TrimPrefix(string(c), "file_"), "passed"))
	if c == job.FileForbidden {
		w.record(ctx, audit.FileForbidden, w.queue, j)
	}
}

// record says nothing of what the job is about: an address may be signed, and a body may
// hold anything. Where there is no guard, knowing a job's ID is all it takes to read it.
func (w *jobWatch) record(ctx context.Context, name audit.Name, reason string, j *job.Job) {
	e := audit.Event{Name: name, Client: j.Owner.Client, Subject: j.Owner.Subject, Reason: reason}
	if j.Owner != (job.Owner{}) {
		e.Job = j.ID
	}
	if j.Input != nil {
		e.Scopes = j.Input.Scopes
	}
	w.trail.Record(ctx, e)
}

// Interface guards
var _ job.Observer = (*jobWatch)(nil)
