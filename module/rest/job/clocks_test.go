package job

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
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
