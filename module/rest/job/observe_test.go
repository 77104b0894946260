package job

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func watched(w *witness) func(*QueueConfig) { return func(c *QueueConfig) { c.Observer = w } }

func TestJobOutcomeIsReportedOnce(t *testing.T) {
	fails := func(context.Context, Task) *Failure { return UpstreamFailed.Failure() }
	for name, c := range map[string]struct {
		do     func(context.Context, Task) *Failure
		retry  int
		finish func(*testing.T, *Queue, *Job)
		want   []Event
	}{
		"it succeeds": {want: []Event{EventAccepted, EventSucceeded}},
		"it fails":    {do: fails, want: []Event{EventAccepted, EventFailed}},
		"it is cancelled, twice": {do: until(nil), want: []Event{EventAccepted, EventCancelled}, finish: func(t *testing.T, q *Queue, j *Job) {
			for range 2 {
				if refused, err := q.Cancel(t.Context(), owner, j.ID); refused != nil || err != nil {
					t.Error(refused, err)
				}
			}
		}},
		"its node ends": {do: until(nil), want: []Event{EventAccepted, EventInterrupted}, finish: drained},
		"its node ends, and it may be begun again": {do: until(nil), retry: 1, want: []Event{EventAccepted, EventRepeated}, finish: drained},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := new(witness)
				q := node(t, newShelf(), newWork(c.do), "a", watched(w), func(q *QueueConfig) { q.Retry = c.retry })
				q.Start()
				j := submit(t, q)
				synctest.Wait()
				if c.finish != nil {
					c.finish(t, q, j)
				}
				time.Sleep(time.Minute)
				q.Stop()
				if got, most, now := w.of(j.ID); !slices.Equal(got, c.want) || most != 1 || now != 0 {
					t.Errorf("%v, want %v; %d ran, %d do", got, c.want, most, now)
				}
			})
		})
	}
}

func drained(_ *testing.T, q *Queue, _ *Job) {
	q.Stop()
	q.Drain(time.Second)
}

// Each operation of the store takes effect once without an answer.
func TestUnacknowledgedWritesReportOnce(t *testing.T) {
	for place := range 24 {
		synctest.Test(t, func(t *testing.T) {
			s, w := newShelf(), new(witness)
			work := newWork(func(_ context.Context, t Task) *Failure {
				time.Sleep(7 * time.Second)
				_, _ = t.Answer.Write([]byte(`1`))
				return nil
			})
			q := node(t, s, work, "a", watched(w))
			j := submit(t, q)
			n := 0
			s.broken(func(string) (error, error) {
				if n++; n != place+1 {
					return nil, nil
				}
				return nil, errStore
			})
			q.Start()
			time.Sleep(2 * time.Minute)
			q.Stop()
			if got, _, _ := w.of(j.ID); !slices.Equal(got, []Event{EventAccepted, EventSucceeded}) {
				t.Errorf("at %d: %v", place, got)
			}
		})
	}
}

// The other node tells that the job was interrupted, and what comes late is told by nobody.
func TestLateJobResultIsNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		s, first, second := newShelf(), new(witness), new(witness)
		p := &pausing{shelf: s}
		work := newWork(func(_ context.Context, t Task) *Failure {
			<-end
			return nil
		})
		a := node(t, s, work, "a", watched(first), func(c *QueueConfig) { c.Store = p })
		b := node(t, s, newWork(nil), "b", watched(second))
		a.Start()
		j := submit(t, a)
		synctest.Wait()
		a.Stop()
		p.pause(true)
		b.Start()
		time.Sleep(lease + 5*time.Second)
		p.pause(false)
		close(end)
		time.Sleep(time.Minute)
		b.Stop()
		a.Drain(time.Second)
		one, _, _ := first.of(j.ID)
		two, _, _ := second.of(j.ID)
		if !slices.Equal(one, []Event{EventAccepted}) || !slices.Equal(two, []Event{EventInterrupted}) {
			t.Errorf("%v, and the other %v", one, two)
		}
	})
}

func TestRefusedJobRequestsAreReported(t *testing.T) {
	w := new(witness)
	q := node(t, newShelf(), newWork(nil), "a", watched(w), func(c *QueueConfig) { c.Queue, c.PerClient = 2, 1 })
	for _, client := range []string{"one", "one", "two", "three"} {
		_, _, _ = q.Submit(t.Context(), Request{Owner: Owner{Client: client}})
	}
	if got, _, _ := w.of(""); !slices.Equal(got, []Event{EventClientFull, EventQueueFull}) {
		t.Error(got)
	}
}

func TestFetchOutcomeIsReported(t *testing.T) {
	// The rest of a fetch is tested over HTTP: here nothing is reached.
	w := new(witness)
	q := node(t, newShelf(), newWork(nil), "a", watched(w), func(c *QueueConfig) { c.Fetch = &Fetch{} })
	for address, want := range map[string][]Code{"https://127.0.0.1/": {FileForbidden}, "http://127.0.0.1/": nil, "https://x@127.0.0.1/": nil} {
		w.files = nil
		if _, refused, err := q.Submit(t.Context(), Request{Owner: owner, Body: []byte(`{"file_url":"` + address + `"}`)}); err != nil || refused == nil || refused.Status != http.StatusBadRequest {
			t.Error(refused, err)
		}
		if !slices.Equal(w.files, want) {
			t.Errorf("%s: %v, want %v", address, w.files, want)
		}
	}
}

func TestBacklogIsTheLastSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		a, b := node(t, s, newWork(until(nil)), "a"), node(t, s, newWork(nil), "b", func(c *QueueConfig) { c.Workers = 1 })
		if _, _, known := a.Backlog(); known {
			t.Error("known before anybody looked")
		}
		for range 7 {
			submit(t, b)
		}
		a.Start()
		defer a.Stop()
		time.Sleep(lookAround + time.Millisecond)
		if name, n, known := a.Backlog(); name != "slow" || n != 7 || !known {
			t.Error(name, n, known)
		}
		s.broken(func(string) (error, error) { return errStore, nil })
		time.Sleep(lookAround)
		if _, _, known := a.Backlog(); known {
			t.Error("known although the store is away")
		}
		s.broken(nil)
		a.Pool.Drain(0, errors.New("the test ends"))
	})
}
