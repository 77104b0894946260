package job

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// occupied is a node whose caller reader has more slow jobs than there are workers.
func occupied(t *testing.T, s *shelf, workers int) (q *Queue, started func() []string) {
	var mu sync.Mutex
	var clients []string
	w := newWork(func(_ context.Context, task Task) *Failure {
		mu.Lock()
		clients = append(clients, task.Job.Owner.Client)
		mu.Unlock()
		if task.Job.Owner.Client == owner.Client {
			time.Sleep(5 * time.Minute)
		} else {
			time.Sleep(time.Second)
		}
		return nil
	})
	q = node(t, s, w, "a", func(c *QueueConfig) { c.Workers, c.PerClient = workers, 80 })
	q.Start()
	for range 3 * workers {
		submit(t, q)
	}
	synctest.Wait()
	return q, func() []string {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(clients)
	}
}

func submitAs(t *testing.T, q *Queue, o Owner) {
	t.Helper()
	if _, refused, err := q.Submit(t.Context(), Request{Owner: o, Body: []byte("x")}); err != nil || refused != nil {
		t.Fatal(err, refused)
	}
}

// A caller with slow jobs, such as one whose file server sends a byte a minute, occupies three quarters of the workers, and
// not the rest.
func TestSlowJobsLeaveWorkersToOthers(t *testing.T) {
	for _, c := range []struct{ workers, own int }{{1, 1}, {2, 2}, {3, 3}, {4, 3}, {7, 6}, {8, 6}, {12, 9}} {
		synctest.Test(t, func(t *testing.T) {
			q, started := occupied(t, newShelf(), c.workers)
			defer q.Drain(time.Hour)
			defer q.Stop()
			if n := len(started()); n != c.own {
				t.Errorf("of %d workers, one caller has %d", c.workers, n)
			}
			for range 3 {
				submitAs(t, q, Owner{Client: "other"})
			}
			time.Sleep(5 * time.Second)
			others := 0
			for _, client := range started() {
				if client == "other" {
					others++
				}
			}
			if want := min(3, 3*(c.workers-c.own)); others != want {
				t.Errorf("of %d workers: %d jobs of somebody else have run, want %d", c.workers, others, want)
			}
		})
	}
}

// Where a caller waits although a worker is free, those behind it do not.
func TestCallersBehindOneThatWaitsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		q, started := occupied(t, s, 4)
		defer q.Drain(time.Hour)
		defer q.Stop()
		for i := range 4 { // other's fifth job comes after the waiting one of reader
			id := fmt.Sprintf("0000%d", i)
			s.marks[id], s.queues[id] = mark{ID: id, Client: "other"}, "slow"
		}
		submitAs(t, q, Owner{Client: "other"})
		if got := started(); len(got) != 4 || got[3] != "other" {
			t.Errorf("%v", got)
		}
	})
}

// A run of a node that has ended is dealt with although it stands behind jobs that wait and no worker is free.
func TestLostRunBehindWaitingJobsIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		q, _ := occupied(t, s, 1)
		defer q.Drain(time.Hour)
		defer q.Stop()
		other := node(t, s, newWork(func(_ context.Context, _ Task) *Failure { time.Sleep(time.Hour); return nil }), "b", func(c *QueueConfig) { c.Workers, c.PerClient = 1, 50 })
		j := submit(t, q) // the last of its caller
		lost := find(t, other, j.ID)
		if err := lost.Claim(time.Now(), "b"); err != nil {
			t.Fatal(err)
		}
		_, r, err := other.loadJob(t.Context(), j.ID)
		if err == nil {
			_, err = other.saveJob(t.Context(), lost, r)
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(lease + 2*lookEverywhere + time.Second)
		if got := find(t, q, j.ID); got.State != Failed || got.Failure.Code != string(Interrupted) {
			t.Errorf("%+v", got)
		}
	})
}

// With one worker a caller's second job waits for the first of everybody else.
func TestNewcomersStartBeforeWaitingJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, started := occupied(t, newShelf(), 1)
		defer q.Drain(time.Hour)
		defer q.Stop()
		submitAs(t, q, Owner{Client: "other"})
		time.Sleep(6 * time.Minute)
		if got := started(); len(got) != 3 || got[1] != "other" {
			t.Errorf("%v", got)
		}
	})
}
