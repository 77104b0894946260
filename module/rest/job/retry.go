package job

import "time"

// Interrupt is for a running job whose holder is known to have stopped: the job is queued again if
// it may be retried, and fails otherwise.
func (j *Job) Interrupt(now time.Time, retry int) error {
	if j.State != Running {
		return ErrState
	}
	j.Node, j.Until, j.Claimed = "", time.Time{}, ""
	if j.Fence <= uint64(max(retry, 0)) {
		j.State, j.Progress = Queued, nil
		return nil
	}
	j.end(now, Failed)
	j.Failure = Interrupted.Failure()
	return nil
}

// Lost reports whether the holder of a running job has failed to renew its lease.
func (j *Job) Lost(now time.Time) bool { return j.State == Running && now.After(j.Until) }
