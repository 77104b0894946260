package job

import "context"

// Event is what became of a job, or of the wish for one: a closed set, fit for a metric's
// label.
type Event string

// The events.
const (
	EventAccepted    Event = "accepted"
	EventQueueFull   Event = "queue_full"  // no job: too many wait or run
	EventClientFull  Event = "client_full" // no job: too many of its client's
	EventSucceeded   Event = "succeeded"
	EventFailed      Event = "failed"
	EventInterrupted Event = "interrupted" // failed, since whoever ran it stopped
	EventRepeated    Event = "repeated"    // the same, and it waits again
	EventCancelled   Event = "cancelled"
)

// Events are all of them.
var Events = []Event{
	EventAccepted, EventQueueFull, EventClientFull, EventSucceeded, EventFailed, EventInterrupted, EventRepeated, EventCancelled,
}

// Observer hears what becomes of jobs, once for each effect that is certain. Its methods
// MUST NOT block.
type Observer interface {
	// Job: e has become of j. For a wish that was refused j says who had it. ctx is that of
	// the request it came with, if one did.
	Job(ctx context.Context, e Event, j *Job)
	// Running: so many more jobs run here.
	Running(more int)
	// File: a file was passed on, then c is "", or why it was not. Before a job is made, j
	// says who wanted it.
	File(ctx context.Context, c Code, j *Job)
}

// ended is the event of a job that has come to an end, or waits again.
func (j *Job) ended() Event {
	switch {
	case j.State == Succeeded:
		return EventSucceeded
	case j.State == Cancelled:
		return EventCancelled
	case j.State == Queued:
		return EventRepeated
	case j.Failure != nil && j.Failure.Code == string(Interrupted):
		return EventInterrupted
	}
	return EventFailed
}

// Backlog is the queue's name, and how many of its jobs wait or run on all nodes, when
// somebody last looked. known is false when the last look was in vain.
func (q *Queue) Backlog() (name string, jobs int, known bool) {
	n := q.backlog.Load()
	return q.Name, int(max(n, 0)), n >= 0
}
