package job

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

func TestCancelledJobsDoNotRunAndRunningOnesStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newShelf(), newWork(until(nil))
		a := node(t, s, w, "a", func(c *QueueConfig) { c.Workers = 1 })
		b := node(t, s, w, "b")
		a.Start()
		defer a.Stop()
		here, there, waits := submit(t, a), submit(t, b), submit(t, b)
		synctest.Wait()
		for q, j := range map[*Queue]*Job{a: here, b: waits} {
			if refused, err := q.Cancel(t.Context(), owner, j.ID); refused != nil || err != nil {
				t.Error(refused, err)
			}
			if refused, err := q.Cancel(t.Context(), owner, j.ID); refused != nil || err != nil {
				t.Error("again:", refused, err)
			}
		}
		time.Sleep(lookAround + time.Millisecond) // there has its turn
		if got := find(t, b, there.ID); got.State != Running || find(t, b, here.ID).State != Cancelled || w.begun(waits.ID) != 0 {
			t.Fatalf("%+v", got)
		}
		if refused, err := b.Cancel(t.Context(), owner, there.ID); refused != nil || err != nil { // it runs on a
			t.Error(refused, err)
		}
		time.Sleep(2 * beat)
		if a.Pool.Has(there.ID) {
			t.Error("the upstream is still asked")
		}
		for _, j := range []*Job{here, there, waits} {
			if got := find(t, a, j.ID); got.State != Cancelled || got.Result != nil || got.Failure != nil || got.Input != nil {
				t.Errorf("%+v", got)
			}
		}
		if s.unfinished() != 0 {
			t.Error("marks are left")
		}
	})
}

func TestOthersCannotSeeAJob(t *testing.T) {
	s := newShelf()
	q, other := node(t, s, newWork(nil), "a"), node(t, s, newWork(nil), "a", func(c *QueueConfig) { c.Name = "another" })
	j := submit(t, q)
	for _, o := range []Owner{{}, {Client: "reader"}, {Subject: "alice"}, {Client: "alice", Subject: "reader"}, {Client: "reader", Subject: "bob"}} {
		if _, err := q.Find(t.Context(), o, j.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%+v: %v", o, err)
		}
		if refused, err := q.Cancel(t.Context(), o, j.ID); refused != nil || !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%+v: %v %v", o, refused, err)
		}
	}
	if _, err := other.Find(t.Context(), owner, j.ID); !errors.Is(err, store.ErrNotFound) {
		t.Error("a job of another queue is found")
	}
	for _, id := range []string{"", "../" + j.ID, j.ID + "\x00", string(make([]byte, 100))} {
		if _, err := q.Find(t.Context(), owner, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestJobQueueIsLimitedAcrossNodes(t *testing.T) {
	s := newShelf()
	few := func(c *QueueConfig) { c.Queue, c.PerClient = 10, 4 }
	a, b := node(t, s, newWork(nil), "a", few), node(t, s, newWork(nil), "b", few)
	var all sync.WaitGroup
	var mu sync.Mutex
	counts := map[int]int{}
	for i := range 64 {
		all.Go(func() {
			q := []*Queue{a, b}[i%2]
			_, refused, err := q.Submit(t.Context(), Request{Owner: Owner{Client: fmt.Sprint(i % 5)}, Body: []byte("x")})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if refused == nil {
				counts[202]++
			} else if counts[refused.Status]++; refused.Header.Get("Retry-After") == "" {
				t.Error("without Retry-After")
			}
		})
	}
	all.Wait()
	if counts[202] > 10 || s.unfinished() != counts[202] || len(s.jobs) != counts[202] {
		t.Errorf("%v, %d marks, %d jobs", counts, s.unfinished(), len(s.jobs))
	}
	// At the price that both may have been refused the last place; afterwards it is free.
	for i := counts[202]; i < 10; i++ {
		if _, refused, err := a.Submit(t.Context(), Request{Owner: Owner{Client: fmt.Sprint("x", i)}}); refused != nil || err != nil {
			t.Error(refused, err)
		}
	}
	if _, refused, _ := b.Submit(t.Context(), Request{Owner: Owner{Client: "y"}}); refused == nil || refused.Status != http.StatusServiceUnavailable {
		t.Error(refused)
	}
}

// N06: of a queue of 12, callers without a token have 6: 4 for any, 2 for newcomers.
func TestAnonymousCallersGetHalfOfTheQueue(t *testing.T) {
	s := newShelf()
	q := node(t, s, newWork(nil), "a", func(c *QueueConfig) { c.Queue, c.PerClient = 12, 3 })
	for i, c := range []struct {
		client, from string
		status       int
	}{
		{"", "a", 0}, {"", "a", 0}, {"", "a", 0}, {"", "a", 429}, {"", "b", 0}, {"", "b", 429}, {"", "c", 0}, {"", "d", 0}, {"", "e", 503},
		{"reader", "a", 0}, {"reader", "x", 0}, {"reader", "y", 0}, {"reader", "z", 429},
		{"other", "a", 0}, {"other", "a", 0}, {"other", "a", 0}, {"third", "a", 503},
	} {
		_, refused, err := q.Submit(t.Context(), Request{Owner: Owner{Client: c.client}, From: c.from})
		if err != nil {
			t.Fatal(err)
		}
		status := 0
		if refused != nil {
			status = refused.Status
			if refused.Header.Get("Retry-After") == "" {
				t.Errorf("%d: no Retry-After", i)
			}
		}
		if status != c.status {
			t.Errorf("%d, %s %s: %d, want %d", i, c.client, c.from, status, c.status)
		}
	}
	for _, m := range s.marks {
		if (m.Client == "") != (m.From != "") {
			t.Errorf("the address of a client with a token is stored: %+v", m)
		}
	}
}

// Small queues have no places for newcomers, but all their places can be had.
func TestSmallQueueCanBeFilledCompletely(t *testing.T) {
	for most := 1; most <= 8; most++ {
		q := node(t, newShelf(), newWork(nil), "a", func(c *QueueConfig) { c.Queue, c.PerClient = most, most })
		n := 0
		for i := range 20 {
			if _, refused, err := q.Submit(t.Context(), Request{From: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			} else if refused == nil {
				n++
			}
		}
		if n != most {
			t.Errorf("%d jobs in a queue of %d", n, most)
		}
	}
}

func TestJobQueueIsLimitedPerClient(t *testing.T) {
	s := newShelf()
	q := node(t, s, newWork(nil), "a", func(c *QueueConfig) { c.Queue, c.PerClient = 10, 3 })
	for range 3 {
		submit(t, q)
	}
	if _, refused, err := q.Submit(t.Context(), Request{Owner: Owner{Client: "reader", Subject: "bob"}}); err != nil || refused == nil || refused.Status != http.StatusTooManyRequests {
		t.Error(refused, err)
	}
	if _, refused, err := q.Submit(t.Context(), Request{Owner: Owner{Client: "other"}}); err != nil || refused != nil {
		t.Error(refused, err)
	}
}

func TestJobBodySizeIsLimited(t *testing.T) {
	q := node(t, newShelf(), newWork(nil), "a")
	if _, refused, err := q.Submit(t.Context(), Request{Body: make([]byte, MaxBody)}); refused != nil || err != nil {
		t.Error(refused, err)
	}
	if _, refused, err := q.Submit(t.Context(), Request{Body: make([]byte, MaxBody+1)}); refused == nil || refused.Status != http.StatusRequestEntityTooLarge || err != nil {
		t.Error(refused, err)
	}
}

// Every operation of the store fails once, without effect or with it but without an answer,
// at every place where one is made.
func TestStoreFaultsNeverLoseOrRepeatAJob(t *testing.T) {
	for _, effect := range []bool{false, true} {
		for place := range 60 {
			synctest.Test(t, func(t *testing.T) {
				s := newShelf()
				w := newWork(func(_ context.Context, t Task) *Failure {
					time.Sleep(7 * time.Second) // with a renewal
					_, _ = t.Answer.Write([]byte(`1`))
					return nil
				})
				n, struck := 0, ""
				s.broken(func(op string) (error, error) {
					if n++; n != place+1 {
						return nil, nil
					}
					struck = op
					if effect {
						return nil, errStore
					}
					return errStore, nil
				})
				q := node(t, s, w, "a", func(c *QueueConfig) { c.Workers = 1 })
				q.Start()
				defer q.Stop()
				acknowledged := []string{}
				for range 2 {
					j, refused, err := q.Submit(t.Context(), Request{Owner: owner, Body: []byte("x")})
					if refused != nil || err != nil && !errors.Is(err, errStore) {
						t.Fatal(refused, err)
					}
					if err == nil {
						acknowledged = append(acknowledged, j.ID)
					}
				}
				time.Sleep(2 * time.Minute)
				for _, id := range acknowledged {
					got := s.job(t, id)
					if got.State != Succeeded || w.begun(id) != 1 {
						t.Errorf("%s fails at %d (effect %v): begun %d times, %+v", struck, place, effect, w.begun(id), got)
					}
				}
				if s.unfinished() != 0 && struck != "create" {
					t.Errorf("%s fails at %d (effect %v): %d marks are left", struck, place, effect, s.unfinished())
				}
			})
		}
	}
}

func TestOrphanedQueueMarkIsRemoved(t *testing.T) {
	for _, d := range append(differences, 0) {
		synctest.Test(t, func(t *testing.T) {
			s := newShelf()
			q := node(t, s, newWork(nil), "a", apart(d))
			s.marks["x"], s.queues["x"] = mark{ID: "x"}, "slow"
			q.Start()
			defer q.Stop()
			time.Sleep(orphanAge - time.Second)
			if s.unfinished() != 1 {
				t.Errorf("clock %v ahead: it was cleared away while its job may still come", d)
			}
			time.Sleep(10 * time.Second)
			if s.unfinished() != 0 {
				t.Errorf("clock %v ahead: it stays", d)
			}
		})
	}
}

func TestSlowUpstreamTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := node(t, newShelf(), newWork(until(nil)), "a", func(c *QueueConfig) { c.Timeout = time.Minute })
		q.Start()
		defer q.Stop()
		j := submit(t, q)
		time.Sleep(61 * time.Second)
		if got := find(t, q, j.ID); got.State != Failed || got.Failure.Code != string(Timeout) {
			t.Errorf("%+v", got)
		}
	})
}

func TestPanicEndsOnlyItsJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWork(func(context.Context, Task) *Failure { panic("no") })
		q := node(t, newShelf(), w, "a")
		q.Start()
		defer q.Stop()
		j := submit(t, q)
		synctest.Wait()
		if got := find(t, q, j.ID); got.State != Failed || got.Failure.Code != string(UpstreamFailed) {
			t.Errorf("%+v", got)
		}
	})
}

func TestJobConcurrencyIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most, done := 0, 0, 0
		w := newWork(func(_ context.Context, t Task) *Failure {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			done++
			mu.Unlock()
			return nil
		})
		q := node(t, newShelf(), w, "a", func(c *QueueConfig) { c.Workers, c.PerClient = 3, 50 })
		q.Start()
		defer q.Stop()
		for range 12 {
			submit(t, q)
		}
		time.Sleep(5 * time.Second) // four turns of a second each
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if most != 3 || done != 12 || q.Pool.Free(mark{}) != 3 {
			t.Errorf("%d at a time, %d done, %d workers free", most, done, q.Pool.Free(mark{}))
		}
	})
}

func TestJobProgressIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWork(func(_ context.Context, t Task) *Failure {
			t.Answer.Header().Set("Content-Type", "application/x-ndjson")
			for i := range 10 {
				_, _ = fmt.Fprintf(t.Answer, "{\"done\":%d}\n", i*10)
				time.Sleep(2 * time.Second)
			}
			_, _ = fmt.Fprint(t.Answer, `{"done":100,"made":{"id":7}}`)
			return nil
		})
		q := node(t, newShelf(), w, "a", func(c *QueueConfig) { c.Progress, c.Result = "/done", "/made" })
		q.Start()
		defer q.Stop()
		j := submit(t, q)
		last := -1
		for range 19 {
			time.Sleep(time.Second)
			if got := find(t, q, j.ID); got.Progress != nil {
				if *got.Progress < last {
					t.Errorf("from %d to %d", last, *got.Progress)
				}
				last = *got.Progress
			}
		}
		time.Sleep(5 * time.Second)
		if got := find(t, q, j.ID); last < 80 || got.State != Succeeded || *got.Progress != 100 || string(got.Result) != `{"id":7}` {
			t.Errorf("%d %+v", last, got)
		}
	})
}

func TestQueueNeedsStoreAndPath(t *testing.T) {
	if _, err := NewQueue(QueueConfig{Config: Config{Path: "a", Upstream: "/a"}}); err == nil {
		t.Error("a queue without a store was made")
	}
	if _, err := NewQueue(QueueConfig{}); err == nil {
		t.Error("a queue without a path was made")
	}
}

func TestCancelledJobStopsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := node(t, newShelf(), newWork(until(nil)), "a")
		q.Start()
		defer q.Stop()
		j := submit(t, q)
		synctest.Wait()
		begun := time.Now()
		if _, err := q.Cancel(t.Context(), owner, j.ID); err != nil {
			t.Fatal(err)
		}
		if synctest.Wait(); q.Pool.Has(j.ID) || time.Since(begun) != 0 {
			t.Error("the upstream is still asked")
		}
	})
}

func TestFullJobQueueIsNotWrittenTo(t *testing.T) {
	s := newShelf()
	q := node(t, s, newWork(nil), "a", func(c *QueueConfig) { c.Queue = 1 })
	submit(t, q)
	s.broken(func(op string) (error, error) {
		if op != "list" {
			t.Errorf("%s of a store that has no room", op)
		}
		return nil, nil
	})
	if _, refused, err := q.Submit(t.Context(), Request{Owner: Owner{Client: "other"}}); refused == nil || err != nil {
		t.Error(refused, err)
	}
}

func TestLastQueuePlaceIsNotTakenTwice(t *testing.T) {
	s := newShelf()
	q := node(t, s, newWork(nil), "a", func(c *QueueConfig) { c.Queue = 1 })
	s.broken(func(op string) (error, error) {
		if op == "enter" { // another node is faster
			s.marks["other"], s.queues["other"] = mark{ID: "other", Client: "other"}, "slow"
		}
		return nil, nil
	})
	if _, refused, err := q.Submit(t.Context(), Request{Owner: owner}); refused == nil || refused.Status != http.StatusServiceUnavailable || err != nil {
		t.Error(refused, err)
	}
	if len(s.jobs) != 0 || s.unfinished() != 1 {
		t.Errorf("%d jobs, %d marks", len(s.jobs), s.unfinished())
	}
}

func TestJobBodyHasExactlyOneMember(t *testing.T) {
	for body, field := range map[string]string{
		`{"u":"x"}`: "", `{}`: "u", `{"u":1}`: "u", `{"u":""}`: "u", `{"u":null}`: "u", `{"u":"a","u":"b"}`: "u", `{"u":"a","\u0075":"b"}`: "u", `{"u":"a","x":1}`: "x",
	} {
		text, refused := readMember([]byte(body), "u")
		if (refused == nil) != (field == "") || refused != nil && refused.Field != field || refused == nil && text != "x" {
			t.Errorf("%s: %q %v", body, text, refused)
		}
	}
	for _, body := range []string{"", "[", `"u"`, `{"u":"x"`, `{"u":"x"} 1`, `{"u":"x"}}`, `{"u" "x"}`, "null"} {
		if _, refused := readMember([]byte(body), "u"); refused == nil || refused.Status != http.StatusBadRequest {
			t.Errorf("%s: %v", body, refused)
		}
	}
}

func TestFaultDuringJobCreateReportsUnknownOutcome(t *testing.T) {
	for op, unknown := range map[string]bool{"list": false, "enter": false, "create": true} {
		s := newShelf()
		q := node(t, s, newWork(nil), "a")
		s.broken(func(now string) (error, error) {
			if now == op {
				return nil, errStore
			}
			return nil, nil
		})
		if _, _, err := q.Submit(t.Context(), Request{Owner: owner}); !errors.Is(err, errStore) || errors.Is(err, ErrUnknown) != unknown {
			t.Errorf("%s: %v", op, err)
		}
	}
}
