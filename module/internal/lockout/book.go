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

// Book counts attempts, for a bounded number of keys of each kind. The kind is the part of a key in
// front of the first colon; callers choose it and never derive it from a request. Each kind has its
// own capacity and its own lock, so that an attacker who tries a hundred thousand client names
// cannot evict what was counted for a user. A Book is safe for concurrent use.
//
// At the cap, a new key replaces an expired one, or else the least recently used key of its kind
// that is not currently refused. Only when every key of a kind is refused, the one is evicted whose
// refusal ends first, so that nobody is refused for what others did. Flooding can evict a key below
// its limit, at the price of as many attempts of that kind as the cap, and a refused key at the price
// of as many keys that are refused for longer.
type Book struct {
	cap   int
	now   func() time.Time
	start time.Time

	mu    sync.Mutex
	kinds map[string]*shard
	rates map[string]*fairshare.Rate
}

// maxKinds bounds the number of kinds, in case a caller ever derives one from a request. Further
// kinds share the shard of keys without a kind.
const maxKinds = 32

// shard holds the keys of one kind.
type shard struct {
	cap   int
	now   func() time.Time
	start time.Time

	mu      sync.Mutex
	entries map[string]*entry
	refused queue
	open    queue
	recent  *list.List // of *entry that are not refused; the least recently used at the back
}

type entry struct {
	count
	key    string
	due    time.Duration
	queue  *queue
	at     int           // index in queue
	told   bool          // NewlyRefused has reported the refusal
	recent *list.Element // nil while refused
}

// NewBook returns a book for at most cap keys (at least 1) of each kind.
func NewBook(cap int, now func() time.Time) *Book {
	return &Book{cap: max(cap, 1), now: now, start: now(), kinds: make(map[string]*shard)}
}

// rate returns the rate that all sources share under a name. The caller chooses name and rule, and
// a name keeps the rule it was first used with. The rule's Lock has no effect.
func (b *Book) rate(name string, r Rule) *fairshare.Rate {
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

// TakeShare counts an attempt twice or not at all: once for the key of its source, and with cost
// units for everybody together under the name. A refused attempt leaves no trace, so strangers who
// are refused because of their network do not fill the book with keys.
func (b *Book) TakeShare(key string, own Rule, from fairshare.Source, name string, together Rule, cost int) (ok bool, retry time.Duration) {
	if refused, retry := b.Refused(key, own); refused {
		return false, retry
	}
	if ok, retry = b.rate(name, together).Take(from, cost); !ok {
		return false, retry
	}
	return b.Take(key, own)
}

// shardOf returns the shard that counts a key.
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
			entries: make(map[string]*entry), recent: list.New(),
		}
		b.kinds[strings.Clone(kind)] = s
	}
	return s
}

// Take counts one attempt, atomically, unless the key is refused; retry then says for how long. Of
// any number of parallel callers, exactly Limit get ok. A refused attempt is not counted and does
// not extend the refusal.
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
		s.makeRoom(now)
		e = &entry{key: key}
		s.entries[key] = e
	}
	ok, retry = e.countAttempt(now, r)
	s.fileEntry(e, now)
	return ok, retry
}

// Return takes back the latest attempt of the key, because it succeeded. Only the caller that made
// the attempt may call it, at most once.
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

// Forget drops the attempts of a key and its refusal.
func (b *Book) Forget(key string) {
	s := b.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[shortenKey(key)]; e != nil {
		s.unfileEntry(e)
		delete(s.entries, e.key)
	}
}

// ForgetSuffix calls Forget for all keys of a kind that end in suffix. It visits every key of the
// kind, and misses keys of more than 64 bytes, which are kept as digests.
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

// NewlyRefused reports whether the key is refused and this is the first call since the refusal
// began: of any number of callers whose attempts locked a key, exactly one is told to report it.
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

// expireEntries settles up to n due entries of each kind. Two per attempt are more than attempts
// can add, so the book shrinks in use and needs no sweeper.
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

func (s *shard) makeRoom(now time.Duration) {
	if len(s.entries) < s.cap {
		return
	}
	for len(s.refused) > 0 && s.refused[0].due <= now {
		s.fileEntry(s.refused[0], now)
	}
	if len(s.entries) == s.cap && len(s.open) > 0 && s.open[0].due <= now {
		s.fileEntry(s.open[0], now)
	}
	if len(s.entries) < s.cap {
		return
	}
	var gone *entry
	if last := s.recent.Back(); last != nil {
		gone, _ = last.Value.(*entry)
	} else {
		gone = s.refused[0]
	}
	s.unfileEntry(gone)
	delete(s.entries, gone.key)
}

// fileEntry moves an entry to the list it belongs to after a change, and drops it when nothing
// about it is left to remember.
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

// shortenKey bounds what a key costs. The result is longer than any key that is kept
// as it is, so the two kinds cannot meet.
func shortenKey(key string) string {
	if len(key) <= longestKey {
		return key
	}
	return "sha256:" + secret.Digest(key)
}
