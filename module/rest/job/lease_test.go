package job

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

func TestJobIsQueuedRunAndEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newShelf(), newWork(nil)
		q := node(t, s, w, "a")
		j := submit(t, q)
		time.Sleep(time.Hour)
		if got := find(t, q, j.ID); got.State != Queued || w.begun(j.ID) != 0 {
			t.Errorf("before Start: %+v", got)
		}
		q.Start()
		defer q.Stop()
		synctest.Wait()
		got := find(t, q, j.ID)
		if got.State != Succeeded || string(got.Result) != `{"ok":true}` || got.Input != nil || s.unfinished() != 0 {
			t.Errorf("%+v", got)
		}
		time.Sleep(24*time.Hour + time.Second)
		if _, err := q.Find(t.Context(), owner, j.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("kept for more than a day: %v", err)
		}
	})
}

func TestLeaseIsRenewedWhileTheJobRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		s, w := newShelf(), newWork(until(end))
		a, b := node(t, s, w, "a"), node(t, s, w, "b")
		a.Start()
		j := submit(t, a)
		synctest.Wait()
		b.Start()
		time.Sleep(20 * time.Minute)
		if got := find(t, b, j.ID); got.State != Running || got.Node != "a" || w.begun(j.ID) != 1 {
			t.Errorf("%+v, begun %d times", got, w.begun(j.ID))
		}
		close(end)
		synctest.Wait()
		if got := find(t, b, j.ID); got.State != Succeeded {
			t.Errorf("%+v", got)
		}
		a.Stop()
		b.Stop()
	})
}

// pausing is a node whose store is out of reach for it alone, as if the process stood still.
type pausing struct {
	*shelf
	mu   sync.Mutex
	away bool
}

func (p *pausing) pause(away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = away
}

func (p *pausing) gone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.away
}

func (p *pausing) Get(ctx context.Context, k store.Key) (store.Record, error) {
	if p.gone() {
		return store.Record{}, errStore
	}
	return p.shelf.Get(ctx, k)
}

func (p *pausing) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	if p.gone() {
		return r, errStore
	}
	return p.shelf.Swap(ctx, r)
}

// Whoever asks for the job would otherwise hear that it runs until a worker is free, and its mark would take a place.
func TestBusyNodeNoticesJobsOfAnother(t *testing.T) {
	for _, retry := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			end := make(chan struct{})
			s, w := newShelf(), newWork(until(end))
			p := &pausing{shelf: s}
			few := func(c *QueueConfig) { c.Workers, c.Retry = 1, retry }
			a, b := node(t, s, w, "a", few, func(c *QueueConfig) { c.Store = p }), node(t, s, w, "b", few)
			b.Start()
			busy := submit(t, b)
			synctest.Wait()
			a.Start()
			lost := submit(t, a)
			synctest.Wait()
			waiting := submit(t, b)
			a.Stop()
			p.pause(true)
			time.Sleep(lease + 3*lookAround)
			want := Queued
			if retry == 0 {
				want = Failed
			}
			for id, state := range map[string]State{busy.ID: Running, lost.ID: want, waiting.ID: Queued} {
				if got := find(t, b, id); got.State != state {
					t.Errorf("retry %d: %s, want %s", retry, got.State, state)
				}
			}
			close(end)
			p.pause(false)
			a.Drain(time.Second)
			time.Sleep(time.Minute)
			if got := find(t, b, waiting.ID); got.State != Succeeded || s.unfinished() != 0 {
				t.Errorf("retry %d: %s, %d are left", retry, got.State, s.unfinished())
			}
			b.Stop()
		})
	}
}

func TestPausedNodesLateResultIsRefused(t *testing.T) {
	for name, retry := range map[string]int{"not to be repeated": 0, "may be repeated": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				end := make(chan struct{})
				s, first, second := newShelf(), newWork(nil), newWork(nil)
				// The upstream of the first answers late, and does not notice that nobody waits.
				first.do = func(_ context.Context, t Task) *Failure {
					<-end
					_, _ = t.Answer.Write([]byte(`"late"`))
					return nil
				}
				p := &pausing{shelf: s}
				a := node(t, s, first, "a", func(c *QueueConfig) { c.Store = p; c.Retry = retry })
				b := node(t, s, second, "b", func(c *QueueConfig) { c.Retry = retry })
				a.Start()
				j := submit(t, a)
				synctest.Wait()
				a.Stop()
				p.pause(true)
				b.Start()
				time.Sleep(lease - time.Second)
				if got := find(t, b, j.ID); got.State != Running {
					t.Fatalf("taken before the lease has ended: %+v", got)
				}
				time.Sleep(5 * time.Second)
				got := find(t, b, j.ID)
				if retry == 0 && (got.State != Failed || got.Failure.Code != string(Interrupted) || second.begun(j.ID) != 0) {
					t.Errorf("%+v", got)
				}
				if retry == 1 && (got.State != Succeeded || string(got.Result) != `{"ok":true}` || second.begun(j.ID) != 1) {
					t.Errorf("%+v", got)
				}
				p.pause(false)
				close(end)
				synctest.Wait()
				time.Sleep(time.Minute)
				if now := find(t, b, j.ID); now.State != got.State || string(now.Result) != string(got.Result) || now.Fence != got.Fence {
					t.Errorf("the late result counts: %+v", now)
				}
				b.Stop()
				a.Drain(time.Second)
			})
		})
	}
}

func TestStoreOutageAtAJobsEndIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		s, w := newShelf(), newWork(until(end))
		q := node(t, s, w, "a")
		q.Start()
		j := submit(t, q)
		synctest.Wait()
		q.Stop() // nobody else declares the job lost
		s.broken(func(string) (error, error) { return errStore, nil })
		close(end)
		time.Sleep(3 * time.Minute)
		s.broken(nil)
		time.Sleep(10 * time.Second)
		if got := find(t, q, j.ID); got.State != Succeeded || s.unfinished() != 0 {
			t.Errorf("%+v", got)
		}
		q.Drain(0)
	})
}

func TestReloadHandsJobsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		w := newWork(func(ctx context.Context, t Task) *Failure {
			time.Sleep(3 * time.Second)
			_, _ = t.Answer.Write([]byte(`1`))
			return nil
		})
		var made []*Job
		old := node(t, s, w, "n", func(c *QueueConfig) { c.Queue, c.PerClient = 100, 100 })
		old.Start()
		for range 5 {
			for range 12 {
				made = append(made, submit(t, old))
			}
			next := node(t, s, w, "n", func(c *QueueConfig) { c.Queue, c.PerClient = 100, 100 })
			next.Start() // the new configuration runs before the old one stops
			time.Sleep(time.Second)
			made = append(made, submit(t, old), submit(t, next))
			old.Stop()
			made = append(made, submit(t, old)) // by a request that came late
			old = next
			time.Sleep(2 * time.Second)
		}
		time.Sleep(10 * time.Minute)
		old.Stop()
		for _, j := range made {
			if got := find(t, old, j.ID); got.State != Succeeded || w.begun(j.ID) != 1 {
				t.Errorf("begun %d times: %+v", w.begun(j.ID), got)
			}
		}
	})
}

func TestShutdownRecordsInterruptedJobs(t *testing.T) {
	for retry, want := range map[int]State{0: Failed, 1: Queued} {
		synctest.Test(t, func(t *testing.T) {
			s, w := newShelf(), newWork(until(nil))
			q := node(t, s, w, "a", func(c *QueueConfig) { c.Retry = retry })
			q.Start()
			j := submit(t, q)
			synctest.Wait()
			q.Stop()
			begun := time.Now()
			q.Drain(5 * time.Second)
			got := find(t, q, j.ID)
			if got.State != want || want == Failed && got.Failure.Code != string(Interrupted) || time.Since(begun) > 7*time.Second {
				t.Errorf("%+v after %v", got, time.Since(begun))
			}
			if marks := s.unfinished(); (want == Queued) != (marks == 1) {
				t.Errorf("%d marks", marks)
			}
		})
	}
}

func TestNodeKeepsItsJobAcrossAStoreOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		s, w := newShelf(), newWork(until(end))
		q := node(t, s, w, "a")
		q.Start()
		defer q.Stop()
		time.Sleep(500 * time.Millisecond) // the loop looks at even seconds, the run between them
		j := submit(t, q)
		synctest.Wait()
		s.broken(func(string) (error, error) { return errStore, nil })
		time.Sleep(time.Minute - 600*time.Millisecond)
		s.broken(nil)
		time.Sleep(10 * time.Second)
		close(end)
		synctest.Wait()
		if got := find(t, q, j.ID); got.State != Succeeded {
			t.Errorf("%+v", got)
		}
	})
}

// A claim takes effect without an answer, and another node's too, at the next look of each:
// whose it was is not to be told by the fence alone.
func TestUnconfirmedJobClaimBelongsToItsNode(t *testing.T) {
	for _, effect := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, first, second := newShelf(), newWork(until(nil)), newWork(until(nil))
			a, b := node(t, s, first, "n"), node(t, s, second, "n") // one process, two configurations
			j := submit(t, b)                                       // which a is not told of
			s.broken(func(op string) (error, error) {
				if op != "swap" {
					return nil, nil
				}
				s.fault = nil
				if effect {
					return nil, errStore
				}
				return errStore, nil
			})
			a.Start()
			synctest.Wait()
			b.Start() // takes it up, unless the claim has taken effect
			time.Sleep(lease + 10*time.Second)
			got := find(t, a, j.ID)
			if got.State != Running || first.begun(j.ID)+second.begun(j.ID) != 1 || (first.begun(j.ID) == 1) != effect {
				t.Errorf("effect %v: begun %d and %d times: %+v", effect, first.begun(j.ID), second.begun(j.ID), got)
			}
			a.Stop()
			b.Stop()
			a.Drain(0)
			b.Drain(0)
			if len(a.doubtful) > 1 {
				t.Error("doubts are kept")
			}
			a.Start()
			time.Sleep(time.Minute)
			a.Stop()
			if len(a.doubtful) != 0 {
				t.Error("doubts about what has ended are kept")
			}
		})
	}
}

func TestUnconfirmedJobClaimResumesAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newShelf(), newWork(nil)
		q := node(t, s, w, "a")
		j := submit(t, q)
		s.broken(func(op string) (error, error) {
			if op != "swap" {
				return nil, nil
			}
			s.fault = func(string) (error, error) { return errStore, nil }
			return nil, errStore
		})
		q.Start()
		defer q.Stop()
		time.Sleep(2 * lease) // longer than anybody else would wait
		s.broken(nil)
		time.Sleep(lookAround)
		synctest.Wait()
		if got := find(t, q, j.ID); got.State != Succeeded || w.begun(j.ID) != 1 || got.Claimed != "" {
			t.Errorf("begun %d times: %+v", w.begun(j.ID), got)
		}
	})
}
