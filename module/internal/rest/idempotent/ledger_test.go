package idempotent_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/idempotent"
)

var errFault = errors.New("the store is away")

type row struct {
	record  idempotent.Record
	version uint64
	expires time.Time
}

type tallied struct {
	tally   idempotent.Tally
	version uint64
}

// ledger is one in memory. Operation number failAt is a fault: before it takes effect, or
// after.
type ledger struct {
	mu      sync.Mutex
	now     func() time.Time
	rows    map[string]row
	tallies map[string]tallied
	ops     int
	failAt  int // from 1; 0: none
	after   bool
	faulty  func() // called when the fault has been, before anybody hears of it
	next    uint64
}

func newLedger(now func() time.Time) *ledger {
	return &ledger{now: now, rows: make(map[string]row), tallies: make(map[string]tallied)}
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

func (l *ledger) live(id string) (row, bool) {
	r, ok := l.rows[id]
	return r, ok && l.now().Before(r.expires)
}

func (l *ledger) Get(_ context.Context, id string) (r idempotent.Record, version uint64, err error) {
	err = l.do(func() error {
		found, ok := l.live(id)
		if !ok {
			return idempotent.ErrNotFound
		}
		r, version = found.record, found.version
		return nil
	})
	return r, version, err
}

func (l *ledger) Create(_ context.Context, id string, r idempotent.Record, expires time.Time) (version uint64, err error) {
	err = l.do(func() error {
		if _, ok := l.live(id); ok {
			return idempotent.ErrExists
		}
		l.next++
		l.rows[id], version = row{r, l.next, expires}, l.next
		return nil
	})
	return version, err
}

func (l *ledger) Swap(_ context.Context, id string, version uint64, r idempotent.Record, expires time.Time) error {
	return l.do(func() error {
		found, ok := l.live(id)
		switch {
		case !ok:
			return idempotent.ErrNotFound
		case found.version != version:
			return idempotent.ErrConflict
		}
		l.next++
		l.rows[id] = row{r, l.next, expires}
		return nil
	})
}

func (l *ledger) GetTally(_ context.Context, owner string) (t idempotent.Tally, version uint64, err error) {
	err = l.do(func() error {
		found := l.tallies[owner]
		t, version = idempotent.Tally{Hours: maps.Clone(found.tally.Hours)}, found.version
		return nil
	})
	return t, version, err
}

func (l *ledger) PutTally(_ context.Context, owner string, version uint64, t idempotent.Tally, _ time.Time) error {
	return l.do(func() error {
		if l.tallies[owner].version != version {
			return idempotent.ErrConflict
		}
		l.next++
		l.tallies[owner] = tallied{t, l.next}
		return nil
	})
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
	c := idempotent.Config{Ledger: l, Tallies: l, Now: l.now, Attempt: func() string {
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
