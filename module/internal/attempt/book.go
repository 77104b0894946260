package attempt

import (
	"container/heap"
	"container/list"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

const longestKey = 64

// Book counts attempts for at most so many keys. It is safe for concurrent use.
//
// At the cap a new key takes the place of an expired one, else of the least recently
// used one that is not refused at the moment. A refused key is never given up, so
// that nobody ends a lock by trying other keys. What flooding does buy: a key below
// its limit may be forgotten, at the price of as many attempts as the cap. When every
// key is refused, all new ones together have one count for each rule: strangers then
// share a limit, and nobody guesses without one.
type Book struct {
	cap   int
	now   func() time.Time
	start time.Time

	mu      sync.Mutex
	entries map[string]*entry
	refused queue
	open    queue
	recent  *list.List // of *entry, the open ones; least recently used at the back
	shared  map[Rule]*count
}

type entry struct {
	count
	key    string
	due    time.Duration
	queue  *queue
	at     int           // index in queue
	told   bool          // NewlyRefused has said so
	recent *list.Element // nil while refused
}

// NewBook makes a book for at most cap keys (at least 1).
func NewBook(cap int, now func() time.Time) *Book {
	return &Book{
		cap:     max(cap, 1),
		now:     now,
		start:   now(),
		entries: make(map[string]*entry),
		recent:  list.New(),
		shared:  make(map[Rule]*count),
	}
}

// Take counts one attempt, atomically, unless the key is refused; retry then says
// for how long. Of any number of parallel callers exactly Limit get ok. A refused
// attempt is not counted and prolongs nothing.
func (b *Book) Take(key string, r Rule) (ok bool, retry time.Duration) {
	if r.Limit < 1 {
		return false, max(r.Window, r.Lock)
	}
	key = shorten(key)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now().Sub(b.start)
	b.expire(now, 2)
	e := b.entries[key]
	if e == nil {
		if !b.makeRoom(now) {
			return b.sharedCount(r).take(now, r)
		}
		e = &entry{key: key}
		b.entries[key] = e
	}
	ok, retry = e.take(now, r)
	b.file(e, now)
	return ok, retry
}

// Return takes back the latest attempt of the key, because it succeeded. It is for
// the caller whose attempt it was, at most once for each; an attempt that was counted
// with those of others at the cap stays counted.
func (b *Book) Return(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.entries[shorten(key)]; e != nil {
		now := b.now().Sub(b.start)
		e.giveBack(now)
		b.file(e, now)
	}
}

// NewlyRefused reports whether the key is refused now, to the first who asks since it
// is: of any number of callers whose attempts locked a key one is to tell of it.
func (b *Book) NewlyRefused(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[shorten(key)]
	if e == nil || e.told || e.until <= b.now().Sub(b.start) {
		return false
	}
	e.told = true
	return true
}

// Clear forgets the key, a lock included.
func (b *Book) Clear(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.entries[shorten(key)]; e != nil {
		b.unfile(e)
		delete(b.entries, e.key)
	}
}

// Len is the number of keys held.
func (b *Book) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.entries)
}

// expire settles up to n entries of each kind that are due. Two for each attempt is
// more than attempts can add, so the book shrinks in use, without a sweeper.
func (b *Book) expire(now time.Duration, n int) {
	for ; n > 0; n-- {
		if len(b.refused) > 0 && b.refused[0].due <= now {
			b.file(b.refused[0], now)
		}
		if len(b.open) > 0 && b.open[0].due <= now {
			b.file(b.open[0], now)
		}
	}
}

func (b *Book) makeRoom(now time.Duration) bool {
	if len(b.entries) < b.cap {
		return true
	}
	for len(b.refused) > 0 && b.refused[0].due <= now {
		b.file(b.refused[0], now)
	}
	if len(b.entries) == b.cap && len(b.open) > 0 && b.open[0].due <= now {
		b.file(b.open[0], now)
	}
	if len(b.entries) == b.cap {
		last := b.recent.Back()
		if last == nil {
			return false
		}
		if e, ok := last.Value.(*entry); ok {
			b.unfile(e)
			delete(b.entries, e.key)
		}
	}
	return true
}

// file puts the entry where it belongs after a change or when it is due, and drops
// it when there is nothing left to know.
func (b *Book) file(e *entry, now time.Duration) {
	b.unfile(e)
	e.settle(now)
	if e.until == 0 {
		e.told = false
	}
	switch {
	case e.until != 0:
		e.queue = &b.refused
	case len(e.times) > 0:
		e.queue = &b.open
		e.recent = b.recent.PushFront(e)
	default:
		delete(b.entries, e.key)
		return
	}
	e.due = e.count.due()
	heap.Push(e.queue, e)
}

func (b *Book) unfile(e *entry) {
	if e.queue != nil {
		heap.Remove(e.queue, e.at)
		e.queue = nil
	}
	if e.recent != nil {
		b.recent.Remove(e.recent)
		e.recent = nil
	}
}

// sharedCount is bounded by the number of rules, which come from configuration.
func (b *Book) sharedCount(r Rule) *count {
	c := b.shared[r]
	if c == nil {
		c = new(count)
		b.shared[r] = c
	}
	return c
}

// shorten bounds what a key costs. The result is longer than any key that is kept
// as it is, so the two kinds cannot meet.
func shorten(key string) string {
	if len(key) <= longestKey {
		return key
	}
	return "sha256:" + secret.Digest(key)
}
