package jobapi

import (
	"cmp"
	"context"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/rest/job"
)

// Observer counts what becomes of the jobs of a queue, and records it in the audit trail.
type Observer struct {
	queue  string
	trail  audit.Sink
	counts map[job.Event]metrics.Counter
	runs   metrics.Gauge
	set    metrics.Set
}

// NewObserver returns the observer of a queue.
func NewObserver(queue string, trail audit.Sink) *Observer {
	w := &Observer{queue: queue, trail: trail, counts: make(map[job.Event]metrics.Counter, len(job.Events))}
	for _, e := range job.Events {
		w.counts[e] = w.set.Job(queue, string(e))
	}
	w.runs = w.set.JobsRunning(queue)
	return w
}

// Job implements [job.Observer].
func (w *Observer) Job(ctx context.Context, e job.Event, j *job.Job) {
	w.counts[e].Inc()
	switch e {
	case job.EventAccepted:
		w.record(ctx, audit.JobAccepted, w.queue, j)
	case job.EventSucceeded, job.EventFailed, job.EventInterrupted, job.EventCancelled:
		w.record(ctx, audit.JobEnded, string(e), j)
	}
}

// Running implements [job.Observer].
func (w *Observer) Running(more int) { w.runs.Add(float64(more)) }

// File implements [job.Observer].
func (w *Observer) File(ctx context.Context, c job.Code, j *job.Job) {
	w.set.JobFile(cmp.Or(strings.TrimPrefix(string(c), "file_"), "passed"))
	if c == job.FileForbidden {
		w.record(ctx, audit.FileForbidden, w.queue, j)
	}
}

// record leaves out what the job is about: an address may be signed, and a body may have
// anything. Without a guard it leaves out the id too: whoever knows it can read the job.
func (w *Observer) record(ctx context.Context, name audit.Name, reason string, j *job.Job) {
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
var _ job.Observer = (*Observer)(nil)
