package crossdevice

import (
	"context"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// turnLife is how long a notice is kept: longer than any node needs to notice that it
	// has missed some.
	turnLife = 2 * time.Minute
	// tellTime bounds the telling of other nodes, which who decided has to wait for.
	tellTime = 2 * time.Second
	// pauseAfterLoss is between two attempts to follow the notices.
	pauseAfterLoss = time.Second
	// linger is how long the notices are followed after the last waiter has gone: most come
	// back at once with their next poll.
	linger = 2 * time.Second
)

// storeNotice says that a ticket has come to a state. A notice that cannot be stored is let go: the
// change is made, and a waiter elsewhere sees it after Hold at the latest.
func (t *Tickets) storeNotice(ctx context.Context, id string, state store.TicketState) {
	t.wakeWaiter(id)
	value, err := store.Encode(&store.Turn{Ticket: id})
	if err != nil {
		return
	}
	// Whoever decided may hang up; the other device still waits to hear of it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellTime)
	defer cancel()
	r := store.Record{Key: store.Key{Kind: store.KindTurn, ID: id + ":" + string(state)}, Value: value, Expires: t.Now().Add(turnLife)}
	for range 2 { // twice: a fault is often that of one connection
		if _, err := t.Store.Create(ctx, r); err == nil || store.IsAnswer(err) {
			return
		}
	}
}

// feed is the following of notices while somebody waits. All of it belongs to Tickets.mu.
type feed struct {
	stop     context.CancelFunc
	idle     *time.Timer   // ends it, nil while somebody waits
	informed bool          // every change will be heard of
	changed  chan struct{} // closed when informed changes
}

// noticeMode says whether every change on another node will be heard of, and when that changes.
func (t *Tickets) noticeMode() (changed <-chan struct{}, informed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.feed == nil {
		return nil, false
	}
	return t.feed.changed, t.feed.informed
}

// startListening makes sure that notices are heard. The caller holds the lock.
func (t *Tickets) startListening() {
	if t.feed != nil {
		if t.feed.idle != nil {
			t.feed.idle.Stop()
			t.feed.idle = nil
		}
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &feed{stop: stop, changed: make(chan struct{})}
	t.feed = f
	go t.listenForNotices(ctx, f)
}

// stopListeningLater ends that in a while unless somebody comes. The caller holds the lock.
func (t *Tickets) stopListeningLater() {
	f := t.feed
	if f == nil || f.idle != nil {
		return
	}
	f.idle = time.AfterFunc(linger, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.feed == f && len(t.waiters) == 0 {
			t.stopListening()
		}
	})
}

// stopListening ends it now. The caller holds the lock.
func (t *Tickets) stopListening() {
	if t.feed == nil {
		return
	}
	if t.feed.idle != nil {
		t.feed.idle.Stop()
	}
	t.feed.stop()
	t.feed = nil
}

// listenForNotices hears notices until ctx ends.
func (t *Tickets) listenForNotices(ctx context.Context, f *feed) {
	for ctx.Err() == nil {
		_ = t.Store.Watch(ctx, store.KindTurn, func(turns []store.Record) {
			if len(turns) == 0 {
				t.setInformed(f, true)
			}
			for _, r := range turns {
				var turn store.Turn
				if store.Decode(r.Value, &turn) == nil {
					t.wakeWaiter(turn.Ticket)
				}
			}
		})
		t.setInformed(f, false)
		select {
		case <-ctx.Done():
		case <-time.After(pauseAfterLoss):
		}
	}
}

func (t *Tickets) setInformed(f *feed, informed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.informed != informed {
		f.informed = informed
		close(f.changed)
		f.changed = make(chan struct{})
	}
}
