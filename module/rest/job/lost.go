package job

import "time"

// sighting is the state in which this node has seen a job, and since when. What happens to other
// nodes' jobs is judged by it alone: the clocks of nodes may be apart, so the times that another
// node has written say nothing about how long ago that was.
type sighting struct {
	fence uint64
	until time.Time
	since time.Time
}

// unchangedFor returns for how long this node has seen the job with an ID in the same state. j is
// nil while there is only its mark.
func (q *Queue) unchangedFor(id string, j *Job, now time.Time) time.Duration {
	seen := sighting{since: now}
	if j != nil {
		seen.fence, seen.until = j.Fence, j.Until
	}
	if before, ok := q.seen[id]; ok && before.fence == seen.fence && before.until.Equal(seen.until) {
		return now.Sub(before.since)
	}
	q.seen[id] = seen
	return 0
}

// isLost reports whether the holder of a running job has failed to renew its lease.
func (q *Queue) isLost(j *Job, now time.Time) bool {
	return j.State == Running && q.unchangedFor(j.ID, j, now) > lease
}
