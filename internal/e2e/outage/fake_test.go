package outage

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func init() {
	caddy.RegisterModule(new(fakeStore))
	caddy.RegisterModule(new(fake))
	caddy.RegisterModule(new(notOne))
}

// There is one gateway in a test process at a time, and so one of these.
var (
	theStore   atomic.Pointer[storetest.Memory]
	theLimiter atomic.Pointer[fakeLimiter]
)

// fakeStore is a store in memory that a test can make fail.
type fakeStore struct{}

func (*fakeStore) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.stores.fake", New: func() caddy.Module { return new(fakeStore) }}
}

func (*fakeStore) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { d.Next(); return nil }

func (*fakeStore) Identity() any { return theStore.Load() }

func (*fakeStore) Open(context.Context) (store.Backend, error) { return remote{theStore.Load()}, nil }

func (*fakeStore) NeedsSecret() bool { return true }

// remote keeps what it has when a gateway lets go of it.
type remote struct{ store.Backend }

func (remote) Close() error { return nil }

// fake is the plugin of a limiter elsewhere, of which the names differ.
type fake struct {
	Name string `json:"name,omitempty"`

	beside store.Source
}

func (*fake) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.limiters.fake", New: func() caddy.Module { return new(fake) }}
}

func (f *fake) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() {
		f.Name = d.Val()
	}
	return nil
}

// BesideStore is called once, before Identity: a limiter that shares the store's
// connection is another one with another store.
func (f *fake) BesideStore(source any) error {
	if f.Name == "alone" {
		return errors.New("this limiter shares nothing with that store")
	}
	f.beside, _ = source.(store.Source)
	return nil
}

type fakeIdentity struct {
	name  string
	store any
}

func (f *fake) Identity() any {
	if f.beside == nil {
		panic("Identity before BesideStore")
	}
	return fakeIdentity{f.Name, f.beside.Identity()}
}

func (f *fake) Open(context.Context) (ratelimit.OpenSource, error) {
	l := theLimiter.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return nil, l.broken
	}
	l.open[f.Name]++
	return fakeSource{l, f.Name}, nil
}

// fakeLimiter is what all its sources share, as a server is.
type fakeLimiter struct {
	counts *ratelimit.Memory

	mu       sync.Mutex
	broken   error              // of Open
	away     error              // what Health says
	verdict  *ratelimit.Verdict // during an outage; nil: ErrUnavailable for those who asked for it
	open     map[string]int     // sources by name
	closed   map[string]int
	subjects []string
	outages  []ratelimit.Outage
}

func newFakeLimiter(t *testing.T) *fakeLimiter {
	t.Helper()
	m, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return &fakeLimiter{counts: m, open: map[string]int{}, closed: map[string]int{}}
}

func (l *fakeLimiter) set(change func(*fakeLimiter)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l)
}

// opened are the sources of a name that are open now.
func (l *fakeLimiter) opened(name string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[name] - l.closed[name]
}

type fakeSource struct {
	*fakeLimiter
	name string
}

func (s fakeSource) Decide(ctx context.Context, r ratelimit.Request) (ratelimit.Verdict, error) {
	s.mu.Lock()
	for _, c := range r.Charges {
		s.subjects = append(s.subjects, c.Subject)
	}
	s.outages = append(s.outages, r.OnOutage)
	away, verdict := s.away, s.verdict
	s.mu.Unlock()
	switch {
	case away == nil:
		return s.counts.Decide(ctx, r)
	case verdict == nil:
		return ratelimit.Verdict{}, ratelimit.ErrUnavailable
	}
	return *verdict, nil
}

func (s fakeSource) Health() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.away
}

func (s fakeSource) Close() error {
	s.set(func(l *fakeLimiter) { l.closed[s.name]++ })
	return nil
}

// notOne is a module in the namespace that is no limiter.
type notOne struct{}

func (*notOne) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.limiters.not_one", New: func() caddy.Module { return new(notOne) }}
}

func (*notOne) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { d.Next(); return nil }
