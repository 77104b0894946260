package clientstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// registryWith is that of a node that configures these clients.
func registryWith(t *testing.T, m store.Backend, ids ...string) *Registry {
	t.Helper()
	var configured []*oauth.Client
	for _, id := range ids {
		configured = append(configured, &oauth.Client{ID: id})
	}
	revocations, err := revocationlist.New(revocationlist.Config{
		Store: m, Log: slog.New(slog.DiscardHandler), MaxTokenLife: func() time.Duration { return time.Hour },
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRegistry(configured, Config{Store: m, Revocations: revocations}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func endVanished(t *testing.T, m store.Backend, trail audit.Sink, ids ...string) error {
	return registryWith(t, m, ids...).EndVanished(context.WithoutCancel(t.Context()), "https://id.example", trail, slog.New(slog.DiscardHandler))
}

// noted keeps what was recorded.
type noted struct{ events []audit.Event }

func (n *noted) Record(_ context.Context, e audit.Event) { n.events = append(n.events, e) }

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
	if err := endVanished(t, m, audit.Discard{}, ids...); err != nil {
		t.Fatal(err)
	}
}

func TestNextLoadNoticesRemovedClients(t *testing.T) {
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

func TestEveryLoadEndsRemovedClientsAgain(t *testing.T) {
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

func TestFaultLeavesTheRecordForTheNextLoad(t *testing.T) {
	for n := 1; n < 8; n++ {
		m := storetest.NewMemory(nil)
		load(t, m, "a", "b")
		f := &failing{Backend: m, at: n}
		err := endVanished(t, f, audit.Discard{}, "a")
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

func TestConcurrentLoadsLoseNoRemovalNotice(t *testing.T) {
	m := storetest.NewMemory(nil)
	load(t, m, "a", "b", "c", "d", "e")
	var wg sync.WaitGroup
	for _, id := range []string{"b", "c", "d", "e"} {
		others := slices.DeleteFunc([]string{"a", "b", "c", "d", "e"}, func(s string) bool { return s == id })
		wg.Go(func() {
			if err := endVanished(t, m, audit.Discard{}, others...); err != nil {
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

func TestRemovedClientListIsLimited(t *testing.T) {
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
func TestClientRemovalIsAuditedOnce(t *testing.T) {
	m := storetest.NewMemory(nil)
	load(t, m, "a", "b")
	told := new(noted)
	start := func(backend store.Backend) error { return endVanished(t, backend, told, "a") }
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
