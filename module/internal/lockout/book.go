package lockout

import (
	"container/heap"
	"container/list"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

const longestKey = 64

// Book counts attempts for at most so many keys of each kind. The kind is what stands
// before the first colon of a key, and is the caller's word, never a stranger's: each kind
// has its room and its lock for itself, so that whoever tries a hundred thousand names of
// clients does not make us forget what was tried on a user. It is safe for concurrent use.
//
// At the cap a new key takes the place of an expired one, else of the least recently
// used one of its kind that is not refused at the moment. A refused key is never given
// up, so that nobody ends a lock by trying other keys. What flooding does buy: a key below
// its limit may be forgotten, at the price of as many attempts of its kind as the cap.
// When every key of a kind is refused, all new ones together have one count for each rule:
// strangers then share a limit, and nobody guesses without one.
type Book struct {
	cap   int
	now   func() time.Time
	start time.Time

	mu    sync.Mutex
	kinds map[string]*shard
	rates map[string]*fairshare.Rate
}

// maxKinds bounds the kinds, should a caller ever let a stranger choose one. Those beyond
// it share the place of keys without a kind.
const maxKinds = 32

// shard is the part of a book for one kind of keys.
type shard struct {
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

// NewBook makes a book for at most cap keys (at least 1) of each kind.
func NewBook(cap int, now func() time.Time) *Book {
	return &Book{cap: max(cap, 1), now: now, start: now(), kinds: make(map[string]*shard)}
}

// Rate returns what everybody together may do, divided among those who do it. The name is
// the caller's word, as is the rule, of which Lock is without effect; one name has one rule
// for good.
func (b *Book) Rate(name string, r Rule) *fairshare.Rate {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rates == nil {
		b.rates = make(map[string]*fairshare.Rate)
	}
	if b.rates[name] == nil {
		b.rates[name] = fairshare.NewRate(r.Limit, r.Window, b.now)
	}
	return b.rates[name]
}

// TakeShare counts an attempt of a source for its own key and, of cost units, for everybody
// together under the name, or for neither. What is refused leaves no trace, so strangers who
// are refused for their network do not fill the book with keys.
func (b *Book) TakeShare(key string, own Rule, from fairshare.Source, name string, together Rule, cost int) (ok bool, retry time.Duration) {
	if refused, retry := b.Refused(key, own); refused {
		return false, retry
	}
	if ok, retry = b.Rate(name, together).Take(from, cost); !ok {
		return false, retry
	}
	return b.Take(key, own)
}

// shardOf is where a key is counted.
func (b *Book) shardOf(key string) *shard {
	kind, _, found := strings.Cut(key, ":")
	if !found {
		kind = ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.kinds[kind]
	if s == nil && len(b.kinds) >= maxKinds {
		kind = ""
		s = b.kinds[kind]
	}
	if s == nil {
		s = &shard{
			cap: b.cap, now: b.now, start: b.start,
			entries: make(map[string]*entry), recent: list.New(), shared: make(map[Rule]*count),
		}
		b.kinds[strings.Clone(kind)] = s
	}
	return s
}

// Take counts one attempt, atomically, unless the key is refused; retry then says
// for how long. Of any number of parallel callers exactly Limit get ok. A refused
// attempt is not counted and prolongs nothing.
func (b *Book) Take(key string, r Rule) (ok bool, retry time.Duration) {
	if r.Limit < 1 {
		return false, max(r.Window, r.Lock)
	}
	return b.shardOf(key).countAttempt(shortenKey(key), r)
}

func (s *shard) countAttempt(key string, r Rule) (ok bool, retry time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now().Sub(s.start)
	s.expireEntries(now, 2)
	e := s.entries[key]
	if e == nil {
		if !s.makeRoom(now) {
			return s.sharedCount(r).countAttempt(now, r)
		}
		e = &entry{key: key}
		s.entries[key] = e
	}
	ok, retry = e.countAttempt(now, r)
	s.fileEntry(e, now)
	return ok, retry
}

// Return takes back the latest attempt of the key, because it succeeded. It is for
// the caller whose attempt it was, at most once for each; an attempt that was counted
// with those of others at the cap stays counted.
func (b *Book) Return(key string) {
	s := b.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[shortenKey(key)]; e != nil {
		now := s.now().Sub(s.start)
		e.giveBack(now)
		s.fileEntry(e, now)
	}
}

// Forget drops the attempts of a key, and its refusal. Attempts that were counted with those
// of others at the cap stay counted.
func (b *Book) Forget(key string) {
	s := b.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[shortenKey(key)]; e != nil {
		s.unfileEntry(e)
		delete(s.entries, e.key)
	}
}

// ForgetSuffix is Forget for all keys of a kind that end in suffix. It looks at every key of
// the kind, and does not find those of more than 64 bytes, which are kept as digests.
func (b *Book) ForgetSuffix(kind, suffix string) {
	s := b.shardOf(kind + ":")
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, e := range s.entries {
		if strings.HasPrefix(key, kind+":") && strings.HasSuffix(key[len(kind)+1:], suffix) {
			s.unfileEntry(e)
			delete(s.entries, key)
		}
	}
}

// NewlyRefused reports whether the key is refused now, to the first who asks since it
// is: of any number of callers whose attempts locked a key one is to tell of it.
func (b *Book) NewlyRefused(key string) bool {
	s := b.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[shortenKey(key)]
	if e == nil || e.told || e.until <= s.now().Sub(s.start) {
		return false
	}
	e.told = true
	return true
}

// expireEntries settles up to n entries of each kind that are due. Two for each attempt is
// more than attempts can add, so the book shrinks in use, without a sweeper.
func (s *shard) expireEntries(now time.Duration, n int) {
	for ; n > 0; n-- {
		if len(s.refused) > 0 && s.refused[0].due <= now {
			s.fileEntry(s.refused[0], now)
		}
		if len(s.open) > 0 && s.open[0].due <= now {
			s.fileEntry(s.open[0], now)
		}
	}
}

func (s *shard) makeRoom(now time.Duration) bool {
	if len(s.entries) < s.cap {
		return true
	}
	for len(s.refused) > 0 && s.refused[0].due <= now {
		s.fileEntry(s.refused[0], now)
	}
	if len(s.entries) == s.cap && len(s.open) > 0 && s.open[0].due <= now {
		s.fileEntry(s.open[0], now)
	}
	if len(s.entries) == s.cap {
		last := s.recent.Back()
		if last == nil {
			return false
		}
		if e, ok := last.Value.(*entry); ok {
			s.unfileEntry(e)
			delete(s.entries, e.key)
		}
	}
	return true
}

// fileEntry puts the entry where it belongs after a change or when it is due, and drops
// it when there is nothing left to know.
func (s *shard) fileEntry(e *entry, now time.Duration) {
	s.unfileEntry(e)
	e.settleCount(now)
	if e.until == 0 {
		e.told = false
	}
	switch {
	case e.until != 0:
		e.queue = &s.refused
	case len(e.times) > 0:
		e.queue = &s.open
		e.recent = s.recent.PushFront(e)
	default:
		delete(s.entries, e.key)
		return
	}
	e.due = e.count.settleAt()
	heap.Push(e.queue, e)
}

func (s *shard) unfileEntry(e *entry) {
	if e.queue != nil {
		heap.Remove(e.queue, e.at)
		e.queue = nil
	}
	if e.recent != nil {
		s.recent.Remove(e.recent)
		e.recent = nil
	}
}

// sharedCount is bounded by the number of rules, which come from configuration.
func (s *shard) sharedCount(r Rule) *count {
	c := s.shared[r]
	if c == nil {
		c = new(count)
		s.shared[r] = c
	}
	return c
}

// shortenKey bounds what a key costs. The result is longer than any key that is kept
// as it is, so the two kinds cannot meet.
func shortenKey(key string) string {
	if len(key) <= longestKey {
		return key
	}
	return "sha256:" + secret.Digest(key)
}
