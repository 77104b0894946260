package job

import "context"

// Event is what became of a job, or of a request for one. The set is closed, so it can be a
// metric's label.
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

// Observer is told what becomes of jobs, once for each effect that is certain. Its methods
// MUST NOT block.
type Observer interface {
	// Job reports an event of j. For a request that was refused j has only its owner. ctx is
	// the request's, if there was one.
	Job(ctx context.Context, e Event, j *Job)
	// Running reports that so many more jobs run on this node.
	Running(more int)
	// File reports that a file was passed on (c is ""), or why it was not. Before a job is
	// made, j has only its owner.
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

// Backlog returns the queue's name, and how many of its jobs waited or ran on all nodes at the
// last look. known is false when that failed.
func (q *Queue) Backlog() (name string, jobs int, known bool) {
	n := q.backlog.Load()
	return q.Name, int(max(n, 0)), n >= 0
}
