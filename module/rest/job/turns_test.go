package job

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestJobsTakeTurns(t *testing.T) {
	for _, c := range []struct {
		name    string
		marks   string // a letter of a caller and a digit for each, oldest first
		started string // callers, in the order in which their jobs were started
		running string // jobs
		want    string
	}{
		{"nobody", "", "abc", "", ""},
		{"one caller", "a1 a2 a3", "", "", "a1 a2 a3"},
		{"one caller with many, others after it", "a1 a2 a3 a4 b1 c1 b2", "", "", "a1 b1 c1 a2 b2 a3 a4"},
		{"one came while the first waited", "a1 a2 a3 b1", "a", "", "a1 b1 a2 a3"},
		{"one came while a job of the first ran", "a1 a2 a3 b1", "a", "a1", "b1 a1 a2 a3"},
		{"and a job of the second", "a1 a2 b1 b2 c1", "ab", "a1 b1", "c1 a1 b1 a2 b2"},
		{"the first again", "a1 a2 b1 b2 c1", "aba", "", "b1 a1 c1 b2 a2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			order := turns{last: make(map[mark]int)}
			for _, client := range c.started {
				order.started(mark{Client: string(client)})
			}
			running := func(id string) bool { return strings.Contains(c.running, id) }
			if got := textOf(order.sort(marksOf(c.marks), running)); got != c.want {
				t.Errorf("%s", got)
			}
			if most := strings.Count(c.marks, "1"); len(order.last) > most {
				t.Errorf("callers without jobs are remembered: %v", order.last)
			}
		})
	}
	callers := []mark{{ID: "1", Client: "a"}, {ID: "2", Client: "a"}, {ID: "3", Client: "a", User: "u"}, {ID: "4", From: "192.0.2.1"}, {ID: "5", From: "192.0.2.2"}}
	want := []string{"1", "3", "4", "5", "2"}
	order := turns{last: make(map[mark]int)}
	nowhere := func(string) bool { return false }
	for i, m := range order.sort(callers, nowhere) {
		if m.ID != want[i] {
			t.Errorf("place %d: %+v", i, m)
		}
	}
	// Whoever waits is not passed by callers who keep coming.
	order.started(callers[0].caller())
	for i, newcomer := range []string{"x1", "y1", "z1"} {
		if got := order.sort(append(marksOf("a2"), marksOf(newcomer)...), nowhere); i > 0 && got[0].ID != "a2" {
			t.Errorf("%s passes somebody who waits", newcomer)
		}
	}
}

func marksOf(text string) (marks []mark) {
	for i := 0; i+1 < len(text); i += 3 {
		marks = append(marks, mark{ID: text[i : i+2], Client: text[i : i+1]})
	}
	return marks
}

func textOf(marks []mark) (text string) {
	for i, m := range marks {
		if i > 0 {
			text += " "
		}
		text += m.ID
	}
	return text
}

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
