package crossdevice_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// watched is a store that counts reads and watches, and whose watches can fail alone.
type watched struct {
	*storetest.Memory
	mu     sync.Mutex
	now    int // watches that run
	begun  int
	reads  int
	away   error
	ending []context.CancelFunc
	mute   bool          // notices cannot be stored
	late   time.Duration // until a watch is in force
}

func (w *watched) Watch(ctx context.Context, kind store.Kind, deliver func([]store.Record)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.mu.Lock()
	if w.away != nil {
		defer w.mu.Unlock()
		return w.away
	}
	w.now++
	w.begun++
	w.ending = append(w.ending, cancel)
	late := w.late
	w.mu.Unlock()
	select {
	case <-time.After(late):
	case <-ctx.Done():
	}
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now--
	}()
	return w.Memory.Watch(ctx, kind, deliver)
}

func (w *watched) Get(ctx context.Context, key store.Key) (store.Record, error) {
	w.mu.Lock()
	w.reads++
	w.mu.Unlock()
	return w.Memory.Get(ctx, key)
}

func (w *watched) Create(ctx context.Context, r store.Record) (store.Record, error) {
	w.mu.Lock()
	mute := w.mute
	w.mu.Unlock()
	if mute && r.Kind == store.KindTurn {
		return store.Record{}, errAway
	}
	return w.Memory.Create(ctx, r)
}

func (w *watched) running() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// lose ends all watches and refuses new ones with err, until lose(nil).
func (w *watched) lose(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away = err
	for _, end := range w.ending {
		end()
	}
	w.ending = nil
}

// twoNodes are two sets of tickets in one store: a waits, b decides.
func twoNodes(t *testing.T) (w *watched, a, b rig) {
	w = &watched{Memory: storetest.NewMemory(nil)}
	use := func(c *crossdevice.Config) { c.Store = w }
	return w, newRig(t, use), newRig(t, use)
}

// B31
func TestChangeOnOneNodeWakesWaitersOnAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a, b := twoNodes(t)
		id, begun := a.begin(t, store.TicketScan)
		waiting := a.wait(t.Context(), id, store.TicketPending)
		time.Sleep(7 * time.Second)
		w.mu.Lock()
		reads := w.reads
		w.mu.Unlock()
		if reads > 2 {
			t.Errorf("%d reads while the watch tells what happens", reads)
		}
		if _, err := b.Scan(t.Context(), id, alice); err != nil {
			t.Fatal(err)
		}
		check(t, <-waiting, store.TicketScanned, nil, 7*time.Second, 7*time.Second)
		waiting = a.wait(t.Context(), id, store.TicketScanned)
		synctest.Wait()
		if _, err := b.Decide(t.Context(), id, alice, true, begun.Number); err != nil {
			t.Fatal(err)
		}
		check(t, <-waiting, store.TicketConfirmed, nil, 0, 0)
		a.Close()
	})
}

func TestWaiterPollsEachSecondWithoutTheWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a, b := twoNodes(t)
		id, _ := a.begin(t, store.TicketScan)
		waiting := a.wait(t.Context(), id, store.TicketPending)
		time.Sleep(5500 * time.Millisecond)
		w.lose(errAway)
		time.Sleep(5 * time.Second)
		if _, err := b.Scan(t.Context(), id, alice); err != nil {
			t.Fatal(err)
		}
		check(t, <-waiting, store.TicketScanned, nil, 10500*time.Millisecond, 11500*time.Millisecond)
		a.Close()
	})
}

// A watch over a network begins after what is done meanwhile.
func TestWaiterPollsEachSecondUntilTheWatchStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a, b := twoNodes(t)
		w.late = 10 * time.Second
		id, _ := a.begin(t, store.TicketScan)
		waiting := a.wait(t.Context(), id, store.TicketPending)
		time.Sleep(500 * time.Millisecond)
		if _, err := b.Scan(t.Context(), id, alice); err != nil {
			t.Fatal(err)
		}
		check(t, <-waiting, store.TicketScanned, nil, 500*time.Millisecond, 1500*time.Millisecond)
		a.Close()
	})
}

func TestLostWatchIsRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a, b := twoNodes(t)
		id, _ := a.begin(t, store.TicketScan)
		waiting := a.wait(t.Context(), id, store.TicketPending)
		synctest.Wait()
		w.lose(errAway)
		time.Sleep(3500 * time.Millisecond)
		w.lose(nil)
		time.Sleep(1500 * time.Millisecond)
		w.mu.Lock()
		before := w.reads
		w.mu.Unlock()
		time.Sleep(10 * time.Second)
		w.mu.Lock()
		reads := w.reads - before
		w.mu.Unlock()
		if reads != 0 || w.running() != 1 {
			t.Errorf("%d reads, %d watches", reads, w.running())
		}
		if _, err := b.Scan(t.Context(), id, alice); err != nil {
			t.Fatal(err)
		}
		check(t, <-waiting, store.TicketScanned, nil, 15*time.Second, 15*time.Second)
		a.Close()
	})
}

func TestUnstorableNotificationBlocksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a, b := twoNodes(t)
		w.mute = true
		id, _ := a.begin(t, store.TicketScan)
		waiting := a.wait(t.Context(), id, store.TicketPending)
		synctest.Wait()
		if ticket, err := b.Scan(t.Context(), id, alice); err != nil || ticket.State != store.TicketScanned {
			t.Errorf("scanned: %s, %v", ticket.State, err)
		}
		<-waiting
		check(t, <-a.wait(t.Context(), id, store.TicketPending), store.TicketScanned, nil, 0, 0)
		a.Close()
	})
}

func TestNotificationIsSentAfterTheDeciderDisconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a, b := twoNodes(t)
		id, _ := a.begin(t, store.TicketScan)
		waiting := a.wait(t.Context(), id, store.TicketPending)
		synctest.Wait()
		ctx, hangUp := context.WithCancel(t.Context())
		hanging := &hangsUp{watched: w, hangUp: hangUp}
		c, err := crossdevice.New(crossdevice.Config{Store: hanging})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Scan(ctx, id, alice); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		check(t, <-waiting, store.TicketScanned, nil, 0, 0)
		a.Close()
		b.Close()
	})
}

// hangsUp ends a request as soon as its swap is made.
type hangsUp struct {
	*watched
	hangUp context.CancelFunc
}

func (h *hangsUp) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	r, err := h.watched.Swap(ctx, r)
	h.hangUp()
	return r, err
}

func TestLocalWaiterNeedsNoNotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a, _ := twoNodes(t)
		w.mute = true
		id, _ := a.begin(t, store.TicketScan)
		waiting := a.wait(t.Context(), id, store.TicketPending)
		synctest.Wait()
		if _, err := a.Scan(t.Context(), id, alice); err != nil {
			t.Fatal(err)
		}
		check(t, <-waiting, store.TicketScanned, nil, 0, 0)
		a.Close()
	})
}
