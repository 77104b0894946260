package job

import (
	"errors"
	"time"
)

// lease is how long a job belongs to the node that runs it. It is renewed three times as often.
// Another node waits for as long without a renewal, by its own clock, before it takes the job.
const (
	lease      = 15 * time.Second
	renewAfter = lease / 3
)

// Errors of transitions.
var (
	// ErrState: the job is in a state that does not permit this.
	ErrState = errors.New("job: its state does not permit this")
	// ErrFence: another node has taken over the job.
	ErrFence = errors.New("job: taken over by another node")
)

// Only the methods below, and Interrupt, change a job's state. If they fail, they change nothing.

// Claim starts a waiting job.
func (j *Job) Claim(now time.Time, node string) error {
	if err := j.move(Running); err != nil {
		return err
	}
	if j.Started.IsZero() {
		j.Started = now
	}
	j.Fence++
	j.Node, j.Until = node, now.Add(lease)
	return nil
}

// Renew is for the holder of the fence, even if the lease has expired unnoticed.
func (j *Job) Renew(now time.Time, fence uint64, progress *int) error {
	if err := j.held(fence); err != nil {
		return err
	}
	j.Until = now.Add(lease)
	if progress != nil {
		j.Progress = progress
	}
	return nil
}

// Succeed ends a job with a result.
func (j *Job) Succeed(now time.Time, fence uint64, r Result) error {
	if err := j.held(fence); err != nil {
		return err
	}
	all := 100
	j.endIn(now, Succeeded)
	j.Result, j.Omitted, j.Progress = r.JSON, r.Omitted, &all
	return nil
}

// Fail ends a job that its holder could not complete.
func (j *Job) Fail(now time.Time, fence uint64, f Failure) error {
	if err := j.held(fence); err != nil {
		return err
	}
	j.endIn(now, Failed)
	j.Failure = &f
	return nil
}

// Cancel ends a job that its owner no longer wants. What the upstream has done is not undone.
func (j *Job) Cancel(now time.Time) error {
	if err := j.move(Cancelled); err != nil {
		return err
	}
	j.endIn(now, Cancelled)
	return nil
}

func (j *Job) move(to State) error {
	if !j.State.may(to) {
		return ErrState
	}
	j.State = to
	return nil
}

func (j *Job) held(fence uint64) error {
	switch {
	case j.Fence != fence:
		return ErrFence
	case j.State != Running:
		return ErrState
	}
	return nil
}

func (j *Job) endIn(now time.Time, s State) {
	j.State, j.Finished, j.Input = s, now, nil
	j.Node, j.Until, j.Claimed = "", time.Time{}, ""
}
