package idempotent_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/idempotent"
	"github.com/gatehouse/gatehouse/module/store"
)

var errFault = errors.New("the store is away")

// ledger is one in memory. Operation number failAt is a fault: before it takes effect, or
// after.
type ledger struct {
	store.Backend // for the methods that keys do not use

	mu     sync.Mutex
	now    func() time.Time
	rows   map[store.Key]store.Record
	ops    int
	failAt int // from 1; 0: none
	after  bool
	faulty func() // called when the fault has been, before anybody hears of it
	next   uint64
}

func newLedger(now func() time.Time) *ledger {
	return &ledger{now: now, rows: make(map[store.Key]store.Record)}
}

func (l *ledger) do(op func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ops++
	if l.ops != l.failAt {
		return op()
	}
	if l.after {
		_ = op()
	}
	if l.faulty != nil {
		l.mu.Unlock()
		l.faulty()
		l.mu.Lock()
	}
	return errFault
}

func (l *ledger) live(k store.Key) (store.Record, bool) {
	r, ok := l.rows[k]
	return r, ok && l.now().Before(r.Expires)
}

func (l *ledger) put(r *store.Record) error {
	l.next++
	r.Version = l.next
	l.rows[r.Key] = *r
	return nil
}

func (l *ledger) Get(_ context.Context, k store.Key) (r store.Record, err error) {
	err = l.do(func() error {
		var ok bool
		if r, ok = l.live(k); !ok {
			return store.ErrNotFound
		}
		return nil
	})
	return r, err
}

func (l *ledger) Create(_ context.Context, r store.Record) (store.Record, error) {
	err := l.do(func() error {
		if _, ok := l.live(r.Key); ok {
			return store.ErrExists
		}
		return l.put(&r)
	})
	return r, err
}

func (l *ledger) Swap(_ context.Context, r store.Record) (store.Record, error) {
	err := l.do(func() error {
		found, ok := l.live(r.Key)
		switch {
		case !ok:
			return store.ErrNotFound
		case found.Version != r.Version:
			return store.ErrConflict
		}
		return l.put(&r)
	})
	return r, err
}

// clock is a time that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 5, 1, 12, 30, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

var attempts struct {
	sync.Mutex
	n int
}

func keeper(t testing.TB, l *ledger, more ...func(*idempotent.Config)) *idempotent.Keeper {
	t.Helper()
	c := idempotent.Config{Store: l, Now: l.now, Attempt: func() string {
		attempts.Lock()
		defer attempts.Unlock()
		attempts.n++
		return "attempt " + strconv.Itoa(attempts.n)
	}}
	for _, m := range more {
		m(&c)
	}
	k, err := idempotent.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

var aKey = idempotent.Key{Client: "reader", User: "u-1", Resource: "/articles", Text: "3f6f"}

// outcome is what a request gets, in a word.
func outcome(a *idempotent.Attempt, answer *idempotent.Answer, refused interface{ Error() string }, code string, err error) string {
	switch {
	case err != nil:
		return "fault"
	case a != nil:
		return "begin"
	case answer != nil:
		return fmt.Sprintf("replay %d %s", answer.Status, answer.Body)
	}
	return code
}

func ask(k *idempotent.Keeper, key idempotent.Key, body string) (*idempotent.Attempt, string) {
	a, answer, refused, err := k.Begin(context.Background(), key, key.Digest([]byte(body)))
	code := ""
	if refused != nil {
		code = refused.Code
		if code == "" {
			code = strconv.Itoa(refused.Status)
		}
	}
	return a, outcome(a, answer, refused, code, err)
}
