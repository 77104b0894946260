package redis

import (
	"sync"
	"time"
)

const (
	// maxUnconfirmed bounds the memory of an outage of replicas: about 8 MiB.
	maxUnconfirmed = 1 << 16
	// unconfirmedFor is how long a client may come back for what it was not told.
	unconfirmedFor = 10 * time.Minute
)

// unconfirmed are the records of which a write under the write concern has no certain outcome. Whoever reads such a
// record, to see whether the write took effect, would take for done what a failover may undo: it is confirmed first.
type unconfirmed struct {
	mu   sync.Mutex
	most int
	now  func() time.Time
	keys map[string]time.Time
	all  time.Time // until then every key counts as one: there was no room
}

func newUnconfirmed(most int, now func() time.Time) *unconfirmed {
	return &unconfirmed{most: most, now: now, keys: make(map[string]time.Time)}
}

func (u *unconfirmed) addKey(key string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	if _, known := u.keys[key]; !known && len(u.keys) >= u.most {
		for k, at := range u.keys {
			if now.Sub(at) > unconfirmedFor {
				delete(u.keys, k)
			}
		}
		if len(u.keys) >= u.most {
			u.all = now.Add(unconfirmedFor)
			clear(u.keys)
			return
		}
	}
	u.keys[key] = now
}

// findKey also says since when, for [unconfirmed.drop].
func (u *unconfirmed) findKey(key string) (since time.Time, found bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	since, found = u.keys[key]
	return since, found || u.now().Before(u.all)
}

// dropKey forgets the key unless another write of it has failed meanwhile.
func (u *unconfirmed) dropKey(key string, since time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.keys[key].Equal(since) {
		delete(u.keys, key)
	}
}
