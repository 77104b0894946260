package simulation

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gatewaytest"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/store/redis"
)

const (
	master = "0123456789abcdef0123456789abcdef"
	// followed is within what time every node that reaches the store refuses a revoked token.
	followed = time.Second
	// stale is for how long a node that does not reach it goes on with what it knows.
	stale = 30 * time.Second
	// settled is how long a write takes at most until its result is known.
	settled = 2 * time.Second
)

// What is used once is used once, no update is lost, and a revoked token is refused within a
// second by every node that reaches the store. A node that does not never calls a token invalid.
func TestRecords(t *testing.T) {
	for _, c := range []struct {
		name   string
		skew   [servers]time.Duration
		faults bool
	}{
		{name: "in a quiet network"},
		{name: "with partitions and broken connections", faults: true},
		{name: "with clocks that differ", skew: [servers]time.Duration{0, 20 * time.Second, -20 * time.Second}, faults: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(t, c.skew, func(w *world) { w.playRecords(c.faults) })
		})
	}
}

// site is what all nodes have done, kept apart from the store to judge it.
type site struct {
	mu       sync.Mutex
	used     map[string]int // codes: how often a use was acknowledged
	unsure   map[string]int // or may have happened
	added    int            // to the counter
	perhaps  int
	tokens   []*issued
	verified int
	refused  int
	away     int // storage faults
}

// issued is a token and when its grant was ended.
type issued struct {
	raw, grant     string
	asked, revoked time.Time // when the revocation was begun and acknowledged
}

func (w *world) playRecords(faults bool) {
	s := &site{used: make(map[string]int), unsure: make(map[string]int)}
	counter := store.Key{Kind: store.KindGrant, ID: "counter"}
	first := w.openStore(0)
	if _, err := first.Create(w.Context(), store.Record{Key: counter, Value: []byte("0"), Expires: time.Now().Add(24 * time.Hour)}); err != nil {
		w.Fatal(err)
	}
	var actors, disturbance sync.WaitGroup
	stop := make(chan struct{})
	if faults {
		w.lossy = 0.002
		disturbance.Go(func() { w.disturb(stop) })
	}
	for node := range nodes {
		backend, random := w.openStore(node), w.numbers(node)
		tokens := gatewaytest.NewTokens(w.T, backend, master)
		actors.Go(func() {
			for end := time.Now().Add(w.lasts); time.Now().Before(end); {
				time.Sleep(time.Duration(random.ExpFloat64() * float64(time.Second)))
				switch n := random.IntN(20); {
				case n < 2:
					s.useCode(w, backend, random.IntN(nodes))
				case n < 3:
					s.count(w, backend, counter)
				case n < 4:
					s.issue(w, tokens, fmt.Sprint("g", node, "-", time.Now().UnixNano()))
				case n < 5:
					s.revoke(w, tokens, random.IntN)
				default:
					s.verify(w, node, tokens, random.IntN)
				}
			}
		})
	}
	actors.Wait()
	close(stop)
	disturbance.Wait()
	time.Sleep(settled)
	s.check(w, first, counter, faults)
}

func (w *world) openStore(node int) store.Backend {
	w.Helper()
	r := &redis.Redis{Config: w.config(node)}
	if err := r.Provision(caddy.Context{}); err != nil {
		w.Fatal(err)
	}
	backend, err := redis.Open(redis.Options{Settings: r.Connection()})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		if err := backend.Close(); err != nil {
			w.Error(err)
		}
	})
	return backend
}

// useCode uses one of the codes of this second, which other nodes are likely to use too.
func (s *site) useCode(w *world, b store.Backend, n int) {
	id := fmt.Sprint("code", time.Now().Unix(), "-", n%10)
	_, err := b.Create(w.Context(), store.Record{
		Key: store.Key{Kind: store.KindCode, ID: id}, Value: []byte("used"), Expires: time.Now().Add(time.Hour),
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.used[id]++
	case errors.Is(err, store.ErrExists):
		s.used[id] += 0
	default:
		s.away++
		s.unsure[id]++
	}
}

// count adds one to the counter if nobody else does at the same time.
func (s *site) count(w *world, b store.Backend, key store.Key) {
	r, err := b.Get(w.Context(), key)
	if err == nil {
		n, _ := strconv.Atoi(string(r.Value))
		r.Value = []byte(strconv.Itoa(n + 1))
		_, err = b.Swap(w.Context(), r)
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case err == nil:
			s.added++
		case !errors.Is(err, store.ErrConflict):
			s.perhaps++
		}
		return
	}
	if errors.Is(err, store.ErrNotFound) {
		w.Error("the counter is gone")
	}
}

func (s *site) issue(w *world, t *gatewaytest.Tokens, grant string) {
	raw, err := t.Issue(w.Context(), grant)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.away++
		return
	}
	s.tokens = append(s.tokens, &issued{raw: raw, grant: grant})
}

func (s *site) any(number func(int) int) *issued {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tokens) == 0 {
		return nil
	}
	return s.tokens[number(len(s.tokens))]
}

func (s *site) revoke(w *world, t *gatewaytest.Tokens, number func(int) int) {
	i := s.any(number)
	if i == nil {
		return
	}
	s.mu.Lock()
	if i.asked.IsZero() {
		i.asked = time.Now()
	}
	s.mu.Unlock()
	err := t.Revoke(w.Context(), i.grant)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && i.revoked.IsZero() {
		i.revoked = time.Now()
	}
}

func (s *site) verify(w *world, node int, t *gatewaytest.Tokens, number func(int) int) {
	i := s.any(number)
	if i == nil {
		return
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(w.Context(), settled)
	defer cancel()
	_, err := t.Verify(ctx, i.raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	since := begun.Sub(i.revoked)
	switch {
	case err == nil && !i.revoked.IsZero() && since > stale+followed:
		w.Errorf("node %d accepts a token %v after it was revoked", node, since)
	case err == nil && !i.revoked.IsZero() && since > followed && w.reached(node, i.revoked):
		w.Errorf("node %d, which reaches the store, accepts a token %v after it was revoked", node, since)
	case errors.Is(err, gatewaytest.ErrInvalid) && i.asked.IsZero():
		w.Errorf("node %d calls a living token invalid: %v", node, err)
	case err == nil:
		s.verified++
	case errors.Is(err, gatewaytest.ErrInvalid):
		s.refused++
	default:
		s.away++
	}
}

func (s *site) check(w *world, b store.Backend, counter store.Key, faults bool) {
	codes := 0
	for id, times := range s.used {
		codes += times
		if times > 1 || times == 0 && s.unsure[id] == 0 {
			w.Errorf("%s was used %d times, and perhaps %d times", id, times, s.unsure[id])
		}
	}
	r, err := b.Get(w.Context(), counter)
	for end := time.Now().Add(settled); err != nil && time.Now().Before(end); { // the first may meet a connection that was broken
		time.Sleep(followed)
		r, err = b.Get(w.Context(), counter)
	}
	if err != nil {
		w.Fatal(err)
	}
	if n, _ := strconv.Atoi(string(r.Value)); n < s.added || n > s.added+s.perhaps {
		w.Errorf("the counter is %d after %d additions and perhaps %d", n, s.added, s.perhaps)
	}
	w.Logf("%d codes used, %d added and perhaps %d, %d tokens, accepted %d times, refused %d times, %d storage faults",
		codes, s.added, s.perhaps, len(s.tokens), s.verified, s.refused, s.away)
	if codes == 0 || s.added == 0 || s.verified == 0 || s.refused == 0 || faults != (s.away > 0) {
		w.Error("this run shows nothing")
	}
}
