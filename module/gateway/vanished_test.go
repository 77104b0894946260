package gateway

import (
	"context"
	"errors"
	"fmt"
	"github.com/gatehouse/gatehouse/module/internal/lazy"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// memorySource is a store in memory.
type memorySource struct{ store.Backend }

func (s memorySource) Identity() any                               { return s.Backend }
func (s memorySource) Open(context.Context) (store.Backend, error) { return s.Backend, nil }

// appWith is an app of a node that configures these clients, as far as its start goes.
func appWith(t *testing.T, m store.Backend, ids ...string) *App {
	t.Helper()
	a := &App{issuer: &url.URL{Scheme: "https", Host: "id.example"}, trail: audit.Discard{}, log: slog.New(slog.DiscardHandler)}
	for _, id := range ids {
		a.Clients = append(a.Clients, Client{Client: oauth.Client{ID: id}, SecretHashes: []string{HashClientSecret(strings.Repeat("x", 32))}})
	}
	var err error
	secrets := [][]byte{[]byte(strings.Repeat("s", 32))}
	if a.core, err = newCore(lazy.NewStore(memorySource{m}), secrets, coreKey{}); err != nil {
		t.Fatal(err)
	}
	a.core.keepFor(time.Hour)
	if a.clients, err = newClients(a.Clients, a.Declared(), nil, a.core, caddy.NewReplacer()); err != nil {
		t.Fatal(err)
	}
	return a
}

// noticed are the clients that revocations in the store speak of, once for each.
func noticed(t *testing.T, m *storetest.Memory) []string {
	t.Helper()
	records, err := m.List(t.Context(), store.KindRevocation, store.RevocationParent, "", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range records {
		var v store.Revocation
		if err := store.Decode(r.Value, &v); err != nil || v.Of != store.RevokeClient {
			t.Fatalf("%v %v", v, err)
		}
		if !slices.Contains(ids, v.Value) {
			ids = append(ids, v.Value)
		}
	}
	slices.Sort(ids)
	return ids
}

func load(t *testing.T, m *storetest.Memory, ids ...string) {
	t.Helper()
	if err := appWith(t, m, ids...).endVanished(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestClientsThatLeaveAreNoticedByWhoeverLoadsNext(t *testing.T) {
	m := storetest.NewMemory(nil)
	want := func(ids ...string) {
		t.Helper()
		if got := noticed(t, m); !slices.Equal(got, ids) {
			t.Errorf("%v, want %v", got, ids)
		}
		for _, id := range ids {
			if _, err := m.Get(t.Context(), store.VanishedKey(id)); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	}
	load(t, m, "a", "b", "c")
	load(t, m, "a", "b", "c")
	want()
	load(t, m) // a guard's configuration: it says nothing, and has forgotten nothing
	want()
	load(t, m, "a", "c")
	want("b")
	load(t, m, "a")
	want("b", "c")
	load(t, m, "a", "b", "c")
	want("b", "c")
	load(t, m, "a", "b", "c", "d")
	want("b", "c")
}

func TestEveryLoadEndsAgainWhatWasIssuedMeanwhileElsewhere(t *testing.T) {
	m := storetest.NewMemory(nil)
	load(t, m, "a", "b")
	load(t, m, "a")
	first, err := m.Get(t.Context(), store.VanishedKey("b"))
	if err != nil {
		t.Fatal(err)
	}
	load(t, m, "a") // the second node is updated
	second, err := m.Get(t.Context(), store.VanishedKey("b"))
	if err != nil || second.Version == first.Version {
		t.Errorf("%v %v", second, err)
	}
	load(t, m, "a", "b")
	load(t, m, "a", "b")
	third, err := m.Get(t.Context(), store.VanishedKey("b"))
	if err != nil || third.Version != second.Version {
		t.Errorf("the client is back and was ended once more: %v %v", third, err)
	}
}

func TestAFaultLeavesTheRecordForTheNextLoad(t *testing.T) {
	for n := 1; n < 8; n++ {
		m := storetest.NewMemory(nil)
		load(t, m, "a", "b")
		f := &failing{Backend: m, at: n}
		a := appWith(t, f, "a")
		err := a.endVanished(t.Context())
		if f.calls < n {
			return // no operation is left to fail
		}
		if err == nil {
			t.Errorf("operation %d: the fault is lost", n)
		}
		load(t, m, "a")
		if got := noticed(t, m); !slices.Equal(got, []string{"b"}) {
			t.Errorf("operation %d: %v", n, got)
		}
	}
	t.Error("too many operations")
}

// failing fails one operation.
type failing struct {
	store.Backend
	calls, at int
}

func (f *failing) fault() error {
	if f.calls++; f.calls == f.at {
		return errors.New("away")
	}
	return nil
}

func (f *failing) Get(ctx context.Context, k store.Key) (store.Record, error) {
	if err := f.fault(); err != nil {
		return store.Record{}, err
	}
	return f.Backend.Get(ctx, k)
}

func (f *failing) Create(ctx context.Context, r store.Record) (store.Record, error) {
	if err := f.fault(); err != nil {
		return store.Record{}, err
	}
	return f.Backend.Create(ctx, r)
}

func (f *failing) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	if err := f.fault(); err != nil {
		return store.Record{}, err
	}
	return f.Backend.Swap(ctx, r)
}

func TestNodesThatLoadTogetherLoseNoNotice(t *testing.T) {
	m := storetest.NewMemory(nil)
	load(t, m, "a", "b", "c", "d", "e")
	var wg sync.WaitGroup
	for _, id := range []string{"b", "c", "d", "e"} {
		a := appWith(t, m, slices.DeleteFunc([]string{"a", "b", "c", "d", "e"}, func(s string) bool { return s == id })...)
		wg.Go(func() {
			if err := a.endVanished(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	load(t, m, "a")
	if got := noticed(t, m); !slices.Equal(got, []string{"b", "c", "d", "e"}) {
		t.Errorf("%v", got)
	}
}

func TestOnlySoManyClientsAreLookedAfter(t *testing.T) {
	m := storetest.NewMemory(nil)
	var many []string
	for i := range maxGone + 50 {
		many = append(many, fmt.Sprintf("client-%04d", i))
	}
	load(t, m, append(many, "a")...)
	load(t, m, "a")
	var v store.Configured
	record, err := m.Get(t.Context(), store.ConfiguredKey("https://id.example"))
	if err == nil {
		err = store.Decode(record.Value, &v)
	}
	if err != nil || len(v.Gone) != maxGone {
		t.Errorf("%d are kept: %v", len(v.Gone), err)
	}
	if got := noticed(t, m); len(got) != maxGone+50 {
		t.Errorf("%d were ended", len(got))
	}
	long := strings.Repeat("x", 120)
	for i := range 3000 { // more than a record may hold
		many = append(many, fmt.Sprint(long, i))
	}
	load(t, m, append(many, "a")...)
	if after, err := m.Get(t.Context(), store.ConfiguredKey("https://id.example")); err != nil || after.Version != record.Version {
		t.Errorf("%v", err)
	}
}

// An event of the trail is recorded when its effect is certain, once for each.
func TestAClientThatLeavesIsToldOfOnceWhenItIsGone(t *testing.T) {
	m := storetest.NewMemory(nil)
	load(t, m, "a", "b")
	told := new(noted)
	start := func(backend store.Backend) error {
		a := appWith(t, backend, "a")
		a.trail = told
		return a.endVanished(t.Context())
	}
	for n := 1; ; n++ {
		f := &failing{Backend: m, at: n}
		err := start(f)
		if err == nil && f.calls >= n {
			t.Errorf("operation %d: the fault is lost", n)
		}
		if err == nil {
			break
		}
		if len(told.events) != 0 {
			t.Fatalf("told after operation %d failed: %+v", n, told.events)
		}
	}
	if len(told.events) != 1 || told.events[0].Client != "b" || told.events[0].Name != audit.ClientChanged {
		t.Errorf("%+v", told.events)
	}
	load(t, m, "a", "c")
	told.events = nil
	if err := start(&overtaken{Backend: m, by: func() { load(t, m, "a") }}); err != nil || len(told.events) != 0 {
		t.Errorf("another node was first: %v, %+v", err, told.events)
	}
}

// overtaken lets somebody else write before the first Swap.
type overtaken struct {
	store.Backend
	by func()
}

func (o *overtaken) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	if o.by != nil && r.Kind == store.KindConfigured {
		o.by()
		o.by = nil
	}
	return o.Backend.Swap(ctx, r)
}
