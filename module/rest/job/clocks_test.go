package job

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// apart has a node's clock differ by d.
func apart(d time.Duration) func(*QueueConfig) {
	return func(c *QueueConfig) { c.Now = func() time.Time { return time.Now().Add(d) } }
}

var differences = []time.Duration{-10 * time.Minute, -130 * time.Second, -30 * time.Second, 30 * time.Second, 130 * time.Second, 10 * time.Minute}

// A node that is ahead would otherwise take jobs from nodes that run them, and have a POST done twice.
func TestRunningJobIsNotTakenByNodeWhoseClockDiffers(t *testing.T) {
	for _, d := range differences {
		for _, retry := range []int{0, 1} {
			t.Run(fmt.Sprintf("%v retry %d", d, retry), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					end := make(chan struct{})
					s, w := newShelf(), newWork(until(end))
					repeats := func(c *QueueConfig) { c.Retry = retry }
					a, b := node(t, s, w, "a", repeats), node(t, s, w, "b", repeats, apart(d))
					a.Start()
					j := submit(t, a)
					synctest.Wait()
					b.Start()
					time.Sleep(20 * time.Minute)
					close(end)
					synctest.Wait()
					if got := find(t, b, j.ID); got.State != Succeeded || w.begun(j.ID) != 1 {
						t.Errorf("begun %d times: %+v", w.begun(j.ID), got)
					}
					a.Stop()
					b.Stop()
				})
			})
		}
	}
}

func TestLostJobIsNoticedByNodeWhoseClockDiffers(t *testing.T) {
	for _, d := range differences {
		t.Run(d.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShelf()
				p := &pausing{shelf: s}
				a := node(t, s, newWork(until(nil)), "a", func(c *QueueConfig) { c.Store = p })
				b := node(t, s, newWork(nil), "b", apart(d))
				a.Start()
				j := submit(t, a)
				synctest.Wait()
				a.Stop()
				p.pause(true)
				b.Start()
				time.Sleep(lease + 2*lookAround)
				if got := find(t, b, j.ID); got.State != Failed || got.Failure.Code != string(Interrupted) {
					t.Errorf("%+v", got)
				}
				b.Stop()
				p.pause(false)
				a.Drain(time.Second)
			})
		})
	}
}

// While the store was away, nobody could renew a lease: those who run jobs do so first.
func TestJobsAreNotTakenAfterAStoreOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		s, w := newShelf(), newWork(until(end))
		a, b := node(t, s, w, "a"), node(t, s, w, "b")
		a.Start()
		time.Sleep(beat / 2) // b looks before a renews
		b.Start()
		j := submit(t, a)
		synctest.Wait()
		time.Sleep(lookAround)
		s.broken(func(string) (error, error) { return errStore, nil })
		time.Sleep(time.Minute)
		s.broken(nil)
		time.Sleep(time.Minute)
		close(end)
		synctest.Wait()
		if got := find(t, b, j.ID); got.State != Succeeded || w.begun(j.ID) != 1 {
			t.Errorf("begun %d times: %+v", w.begun(j.ID), got)
		}
		a.Stop()
		b.Stop()
	})
}

// still is the way of one node to a store that stands still until over.
type still struct {
	*shelf
	over *atomic.Pointer[time.Time]
	way  time.Duration
}

func (s *still) wait(ctx context.Context) error {
	select {
	case <-time.After(max(0, time.Until(*s.over.Load())) + s.way):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *still) Get(ctx context.Context, k store.Key) (store.Record, error) {
	if err := s.wait(ctx); err != nil {
		return store.Record{}, err
	}
	return s.shelf.Get(ctx, k)
}

func (s *still) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	if err := s.wait(ctx); err != nil {
		return r, err
	}
	return s.shelf.Swap(ctx, r)
}

func (s *still) List(ctx context.Context, k store.Kind, parent, after string, limit int) ([]store.Record, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.shelf.List(ctx, k, parent, after, limit)
}

// A look that the store answers late comes before those who run jobs could renew their leases.
func TestJobsAreNotTakenAfterTheStoreStoodStill(t *testing.T) {
	for begin := time.Duration(0); begin < renewAfter; begin += beat / 4 {
		synctest.Test(t, func(t *testing.T) {
			end, over, now := make(chan struct{}), new(atomic.Pointer[time.Time]), time.Now()
			over.Store(&now)
			s, w := newShelf(), newWork(until(end))
			a := node(t, s, w, "a", func(c *QueueConfig) { c.Store = &still{s, over, 20 * time.Millisecond} })
			b := node(t, s, w, "b", func(c *QueueConfig) { c.Store = &still{s, over, time.Millisecond} })
			a.Start()
			time.Sleep(beat / 4)
			b.Start()
			j := submit(t, a)
			time.Sleep(2*renewAfter + begin)
			later := time.Now().Add(lookTimely + lookAround)
			over.Store(&later)
			time.Sleep(time.Minute)
			close(end)
			time.Sleep(beat)
			if got := find(t, b, j.ID); got.State != Succeeded || w.begun(j.ID) != 1 {
				t.Errorf("after %v, begun %d times: %+v", begin, w.begun(j.ID), got)
			}
			a.Stop()
			b.Stop()
		})
	}
}
