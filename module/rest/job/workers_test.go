package job

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// desk is an upstream whose jobs end one by one, and says how many it has.
type desk struct {
	mu    sync.Mutex
	now   map[string]int // by client
	begun []string       // clients
	end   chan struct{}
}

func newDesk() *desk { return &desk{now: make(map[string]int), end: make(chan struct{})} }

func (d *desk) do(ctx context.Context, t Task) *Failure {
	client := t.Job.Owner.Client
	d.mu.Lock()
	d.now[client]++
	d.begun = append(d.begun, client)
	d.mu.Unlock()
	failure := until(d.end)(ctx, t)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now[client]--
	return failure
}

// runs waits until nothing moves, and returns how many jobs of each client run, such as "reader 3 other 1".
func (d *desk) runs() string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Sprintf("reader %d other %d", d.now["reader"], d.now["other"])
}

func (d *desk) last() string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.begun[len(d.begun)-1]
}

// A site with several ports has a queue for each, of which one is started.
func TestQueuesOfOneNameShareWorkers(t *testing.T) {
	for _, started := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			s, d, seen := newShelf(), newDesk(), new(witness)
			var all []*Queue
			defer func() { all[0].Drain(0) }() // when all have stopped
			for i := range 3 {
				q := node(t, s, newWork(d.do), "n", watched(seen))
				all = append(all, q)
				if i < started {
					q.Start()
					defer q.Stop()
				}
			}
			var made []*Job
			for i := range 14 {
				made = append(made, submit(t, all[i%3]))
			}
			if got := d.runs(); got != "reader 3 other 0" { // at once, whatever queue was told
				t.Errorf("%d started: %s", started, got)
			}
			for i := range 3 {
				submitAs(t, all[i], Owner{Client: "other"})
			}
			time.Sleep(time.Minute)
			if got := d.runs(); got != "reader 3 other 1" {
				t.Errorf("%d started: %s", started, got)
			}
			if _, most, now := seen.of(""); most != 4 || now != 4 {
				t.Errorf("%d started: %d were reported at a time, %d now", started, most, now)
			}
			if _, err := all[2].Cancel(t.Context(), owner, made[0].ID); err != nil {
				t.Fatal(err)
			}
			if synctest.Wait(); all[0].Pool.Has(made[0].ID) {
				t.Error("a cancelled job runs on")
			}
		})
	}
}

func TestReloadAddsNoWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := newShelf(), newDesk()
		number := func(n int) *Queue {
			return node(t, s, newWork(d.do), "n", func(c *QueueConfig) { c.Workers = n })
		}
		q := number(4)
		q.Start()
		for range 18 {
			submit(t, q)
		}
		reload := func(n int, want string) {
			t.Helper()
			next := number(n)
			next.Start()
			time.Sleep(time.Minute) // both are there as long as requests of the former last
			q.Stop()
			q = next
			time.Sleep(time.Minute)
			if got := d.runs(); got != want {
				t.Errorf("%d workers: %s, want %s", n, got, want)
			}
		}
		end := func(n int, want string) {
			t.Helper()
			for range n {
				d.end <- struct{}{}
			}
			if got := d.runs(); got != want { // at once: the new configuration is told
				t.Errorf("%d have ended: %s, want %s", n, got, want)
			}
		}
		for range 3 {
			reload(4, "reader 3 other 0")
		}
		submitAs(t, q, Owner{Client: "other"})
		end(1, "reader 3 other 1")
		reload(2, "reader 3 other 1")
		submitAs(t, q, Owner{Client: "other"})
		reload(8, "reader 6 other 2")
		reload(2, "reader 6 other 2")
		for range 6 {
			d.end <- struct{}{}
		}
		time.Sleep(time.Minute)
		var reader, other int
		if _, err := fmt.Sscanf(d.runs(), "reader %d other %d", &reader, &other); err != nil || reader+other != 2 {
			t.Errorf("of 2 workers, %d and %d run", reader, other)
		}
		// The process waits for jobs of all configurations, then interrupts them.
		reload(2, d.runs())
		q.Stop()
		q.Drain(time.Second)
		if got := d.runs(); got != "reader 0 other 0" {
			t.Errorf("after the end: %s", got)
		}
	})
}

// Whose turn it is survives a reload: otherwise the older job of a caller who just had a worker would go first.
func TestReloadKeepsTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := newShelf(), newDesk()
		one := func() *Queue { return node(t, s, newWork(d.do), "n", func(c *QueueConfig) { c.Workers = 1 }) }
		before, after := one(), one()
		before.Start()
		for range 3 {
			submit(t, before)
		}
		submitAs(t, before, Owner{Client: "other"})
		time.Sleep(time.Minute)
		before.Stop()
		d.end <- struct{}{}
		synctest.Wait()
		after.Start()
		if got := d.last(); got != "other" {
			t.Errorf("%s goes first", got)
		}
		after.Stop()
		after.Drain(0)
	})
}
