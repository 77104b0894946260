package job

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestJobWhoseCallerWasStoppedIsNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		away.Store(true)
		w := newWork(nil)
		q := node(t, newShelf(), w, "a", func(c *QueueConfig) {
			c.Permitted = func(_ context.Context, j *Job) (bool, error) {
				if away.Load() {
					return false, errors.New("the store is away")
				}
				return j.Owner.Subject != "alice", nil
			}
		})
		made := func(o Owner, p *Permit) *Job {
			j, refused, err := q.Submit(t.Context(), Request{Owner: o, Permit: p, Body: []byte("x")})
			if err != nil || refused != nil {
				t.Fatal(err, refused)
			}
			return j
		}
		other := Owner{Client: "reader", Subject: "bob"}
		ends, runs, earlier := made(owner, new(Permit)), made(other, new(Permit)), made(owner, nil)
		q.Start()
		defer q.Stop()
		time.Sleep(3 * beat)
		if n := w.begun(ends.ID) + w.begun(runs.ID); n != 0 || w.begun(earlier.ID) != 1 {
			t.Errorf("while nobody knows %d were run, and %d of an earlier release", n, w.begun(earlier.ID))
		}
		away.Store(false)
		time.Sleep(2 * beat)
		if got := find(t, q, ends.ID); got.State != Failed || got.Failure == nil || got.Failure.Code != string(AccessEnded) || w.begun(ends.ID) != 0 {
			t.Errorf("%+v, run %d times", got, w.begun(ends.ID))
		}
		if got, err := q.Find(t.Context(), other, runs.ID); err != nil || got.State != Succeeded {
			t.Errorf("%+v %v", got, err)
		}
	})
}

func TestOneUserLeavesPlacesToOthersOfTheClient(t *testing.T) {
	q := node(t, newShelf(), newWork(nil), "a", func(c *QueueConfig) { c.Queue, c.PerClient = 100, 20 })
	fill := func(user string) (n int) {
		for {
			_, refused, err := q.Submit(t.Context(), Request{Owner: Owner{Client: "app", Subject: user}, User: user})
			if err != nil {
				t.Fatal(err)
			}
			if refused != nil {
				if refused.Status != http.StatusTooManyRequests {
					t.Error(refused)
				}
				return n
			}
			n++
		}
	}
	got := ""
	for _, user := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		got += fmt.Sprint(fill(user), " ")
	}
	if want := "10 5 2 1 1 1 0 "; got != want {
		t.Errorf("the users have %s, want %s", got, want)
	}
}
