package job

import "context"

// Event is what happened to a job, or to a request for one. The set is closed, so that it can be
// a label of metrics.
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

// Events lists all events.
var Events = []Event{
	EventAccepted, EventQueueFull, EventClientFull, EventSucceeded, EventFailed, EventInterrupted, EventRepeated, EventCancelled,
}

// Observer is notified of what happens to jobs, once for each effect that is certain. Its
// methods MUST NOT block.
type Observer interface {
	// Job reports an event of j. For a refused request, j has only its owner. ctx is that of the
	// request, if there was one.
	Job(ctx context.Context, e Event, j *Job)
	// Running reports that more jobs run on this node, or fewer if more is negative.
	Running(more int)
	// File reports that a file was passed on (c is ""), or why it was not. Before a job is
	// made, j has only its owner.
	File(ctx context.Context, c Code, j *Job)
}

// ended returns the event of a job that has ended or is waiting again.
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

// Backlog returns the queue's name, and how many of its jobs were waiting or running on all
// nodes when last checked. known is false if that failed.
func (q *Queue) Backlog() (name string, jobs int, known bool) {
	n := q.backlog.Load()
	return q.Name, int(max(n, 0)), n >= 0
}
