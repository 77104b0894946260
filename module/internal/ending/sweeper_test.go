package ending_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// put stores a record of a user for thirty days.
func put(t *testing.T, b store.Backend, c *clock, kind store.Kind, id string, v any) {
	t.Helper()
	var value []byte
	switch v := v.(type) {
	case *store.Grant:
		value = must(store.Encode(v))(t)
	case *store.Code:
		value = must(store.Encode(v))(t)
	case *store.Session:
		value = must(store.Encode(v))(t)
	case string:
		value = []byte(v)
	}
	must(b.Create(t.Context(), store.Record{Key: store.Key{Kind: kind, ID: id}, Parent: "u", Value: value, Expires: c.at.Add(30 * 24 * time.Hour)}))(t)
}

// fill gives the user so many grants and codes, and some sessions.
func fill(t *testing.T, b store.Backend, c *clock, n int, e store.Epochs) {
	t.Helper()
	for i := range n {
		id := fmt.Sprintf("%d-%05d", e.Subject, i)
		put(t, b, c, store.KindGrant, "g"+id, &store.Grant{ID: "g" + id, Client: "c", Subject: "u", Epochs: e})
		put(t, b, c, store.KindCode, "c"+id, &store.Code{State: store.CodeUsed, Client: "c", Subject: "u", Epochs: e})
		if i < 3 {
			put(t, b, c, store.KindSession, "s"+id, &store.Session{Subject: "u", Epoch: e.Subject})
		}
	}
}

func count(t *testing.T, b store.Backend, kind store.Kind, parent string) int {
	t.Helper()
	return len(must(b.List(t.Context(), kind, parent, "", 100_000))(t))
}

func newSweeper(t *testing.T, b store.Backend, c *clock) *ending.Sweeper {
	return must(ending.NewSweeper(ending.SweeperConfig{Store: b, Revocations: &notices{}, Now: c.now}))(t)
}

// pass sweeps until nothing is left to do now.
func pass(t *testing.T, s *ending.Sweeper) {
	t.Helper()
	for more := true; more; {
		more = must(s.Sweep(t.Context()))(t)
	}
}

func TestSweepDeletesOnlyEndedRecords(t *testing.T) { // N02
	c := &clock{time.Unix(1_900_000_000, 0)}
	m := storetest.NewMemory(c.now)
	e, _ := newEnder(t, m, c)
	fill(t, m, c, 250, store.Epochs{})
	put(t, m, c, store.KindGrant, "!newer", `{"v":9}`)
	put(t, m, c, store.KindGrant, "d", &store.Grant{ID: "d", Client: "d", Subject: "u"})
	must(0, e.EndPair(t.Context(), "c", "u"))(t)
	s := newSweeper(t, m, c)
	pass(t, s)
	if g, sessions := count(t, m, store.KindGrant, "u"), count(t, m, store.KindSession, "u"); g != 2 || sessions != 3 {
		t.Errorf("%d grants and %d sessions are left, want the other client's, the newer release's, and 3", g, sessions)
	}
	must(0, e.EndSubject(t.Context(), "u"))(t)
	fresh := must(ending.CurrentEpoch(t.Context(), m))(t)
	fill(t, m, c, 2, store.Epochs{Subject: fresh, Pair: fresh})
	pass(t, s)
	if g, sessions := count(t, m, store.KindGrant, "u"), count(t, m, store.KindSession, "u"); g != 3 || sessions != 2 {
		t.Errorf("%d grants and %d sessions are left, want the newer release's and 2 of each", g, sessions)
	}
	if count(t, m, store.KindSweep, store.SweepParent) != 1 {
		t.Error("what is written while a user is ended needs a second pass")
	}
	// A redemption that was under way writes its grant late.
	put(t, m, c, store.KindGrant, "late", &store.Grant{ID: "late", Client: "c", Subject: "u"})
	c.at = c.at.Add(time.Minute)
	pass(t, s)
	if n := count(t, m, store.KindGrant, "u") + count(t, m, store.KindSweep, store.SweepParent); n != 3 {
		t.Errorf("%d grants and sweeps are left, want 3", n)
	}
	// Codes are kept while their forms can be sent again.
	c.at = c.at.Add(31 * time.Minute)
	if n := count(t, m, store.KindCode, "u"); n != 2 {
		t.Errorf("%d codes are left, want 2", n)
	}
}

// What is stored for one user cannot be read: the others' records are deleted all the same,
// and a store that is away is not asked for every user.
func TestOneUsersFaultDelaysNoOthersSweep(t *testing.T) { // N02
	const faulty = 25
	c := &clock{time.Unix(1_900_000_000, 0)}
	m := storetest.NewMemory(c.now)
	e, _ := newEnder(t, m, c)
	for i := range faulty {
		subject := fmt.Sprint("faulty", i)
		must(0, e.EndSubject(t.Context(), subject))(t)
		rec := must(m.Get(t.Context(), store.EndedKey(subject)))(t)
		rec.Value = []byte(`{"v":99}`)
		must(m.Swap(t.Context(), rec))(t)
	}
	fill(t, m, c, 3, store.Epochs{})
	must(0, e.EndSubject(t.Context(), "u"))(t)
	looked := 0
	counted := &gets{Backend: m, kind: store.KindEnding, n: &looked}
	s := newSweeper(t, counted, c)
	for range 3 {
		looked = 0
		if _, err := s.Sweep(t.Context()); err == nil {
			t.Error("the faults are not told")
		}
		if looked > 10+8 { // u's sweep has a page for each of four kinds, and judges grants by client
			t.Errorf("%d reads by one call, want about 10", looked)
		}
	}
	if n := count(t, m, store.KindGrant, "u") + count(t, m, store.KindSession, "u"); n != 0 {
		t.Errorf("%d records of the user behind the faulty ones are left", n)
	}
}

// gets counts the reads of one kind.
type gets struct {
	store.Backend
	kind store.Kind
	n    *int
}

func (g *gets) Get(ctx context.Context, k store.Key) (store.Record, error) {
	if k.Kind == g.kind {
		*g.n++
	}
	return g.Backend.Get(ctx, k)
}

func TestSweepResumesWhereAnotherProcessStopped(t *testing.T) { // N02
	for _, killed := range []bool{false, true} {
		goesOn(t, killed)
	}
}

func goesOn(t *testing.T, killed bool) {
	t.Helper()
	c := &clock{time.Unix(1_900_000_000, 0)}
	m := storetest.NewMemory(c.now)
	e, _ := newEnder(t, m, c)
	fill(t, m, c, 1000, store.Epochs{})
	must(0, e.EndSubject(t.Context(), "u"))(t)
	// The first process dies in the middle: its store is gone after some hundred operations.
	ops := 0
	var mu sync.Mutex
	ctx, die := context.WithCancel(t.Context())
	defer die()
	dying := &watched{Backend: m, before: func() {
		mu.Lock()
		defer mu.Unlock()
		if ops++; ops == 700 {
			die()
		}
	}}
	if _, err := newSweeper(t, dying, c).Sweep(ctx); err == nil {
		t.Fatal("the sweep was to break off")
	}
	left := count(t, m, store.KindGrant, "u")
	var v store.Sweep
	must(store.Read(t.Context(), m, store.SweepKey("u"), &v))(t)
	if v.Kind != store.KindCode || v.After == "" {
		t.Errorf("its progress is not in the store: %+v", v)
	}
	if !v.Lease.IsZero() {
		t.Error("the next process has to wait")
	}
	if killed { // as kill -9 does: nobody gave the sweep up
		must(store.Change(t.Context(), m, store.Record{Key: store.SweepKey("u")}, &v, func(*store.Record) (bool, error) {
			v.Lease = c.at.Add(30 * time.Second)
			return true, nil
		}))(t)
	}
	other := newSweeper(t, m, c)
	pass(t, other)
	if n := count(t, m, store.KindGrant, "u"); killed && n != left {
		t.Errorf("%d of %d grants are left: two nodes work on one sweep", n, left)
	}
	if killed {
		c.at = c.at.Add(31 * time.Second)
		pass(t, other)
	}
	if n := count(t, m, store.KindGrant, "u"); n != 0 {
		t.Errorf("%d grants are left", n)
	}
}

func TestNodesSweepTogether(t *testing.T) { // N02
	c := &clock{time.Unix(1_900_000_000, 0)}
	m := storetest.NewMemory(c.now)
	e, _ := newEnder(t, m, c)
	fill(t, m, c, 500, store.Epochs{})
	must(0, e.EndSubject(t.Context(), "u"))(t)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			s, err := ending.NewSweeper(ending.SweeperConfig{Store: m, Revocations: &notices{}, Now: c.now})
			if err != nil {
				t.Error(err)
				return
			}
			for range 5 {
				if _, err := s.Sweep(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := count(t, m, store.KindGrant, "u"); n != 0 {
		t.Errorf("%d grants are left", n)
	}
}

func TestNotifiedSweeperWorksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clock{time.Unix(1_900_000_000, 0)}
		m := storetest.NewMemory(c.now)
		e, _ := newEnder(t, m, c)
		fill(t, m, c, 10, store.Epochs{})
		s := newSweeper(t, m, c)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		// Run has looked for what an earlier process left. A pass that overlaps with the end may begin before the end is
		// written; the last pass does its work.
		synctest.Wait()
		must(0, e.EndSubject(t.Context(), "u"))(t)
		began := time.Now()
		s.Wake()
		for synctest.Wait(); count(t, m, store.KindGrant, "u") > 0; synctest.Wait() {
			if time.Since(began) >= time.Second {
				t.Fatal("nothing was swept")
			}
			time.Sleep(time.Millisecond) // the pauses between pages
		}
		stop()
		if err := <-done; err != context.Canceled { //nolint:errorlint // the value itself
			t.Error(err)
		}
	})
}

// A request that failed between the end and its notice is completed, once, whoever asked being signed out by then.
func TestSweeperTellsGuardsWhatTheRequestCouldNot(t *testing.T) { // E05
	for name, end := range map[string]func(*ending.Ender) error{
		"a user": func(e *ending.Ender) error { return e.EndSubject(t.Context(), "u") },
		"a pair": func(e *ending.Ender) error { return e.EndPair(t.Context(), "c", "u") },
	} {
		c := &clock{time.Unix(1_900_000_000, 0)}
		m := storetest.NewMemory(c.now)
		e, told := newEnder(t, m, c)
		must(0, e.EndPair(t.Context(), "long ago", "u"))(t)
		c.at = c.at.Add(time.Hour)
		told.err, told.all = errDown, nil
		if err := end(e); err == nil || len(told.all) != 1 {
			t.Fatalf("%s: %v, %d notices", name, err, len(told.all))
		}
		want := told.all[0]
		s := must(ending.NewSweeper(ending.SweeperConfig{Store: m, Revocations: told, Now: c.now}))(t)
		if _, err := s.Sweep(t.Context()); err == nil {
			t.Errorf("%s: the sweep went on although guards do not know", name)
		}
		told.err, told.all = nil, nil
		pass(t, s)
		c.at = c.at.Add(time.Minute)
		if len(told.all) != 1 || told.all[0].Key() != want.Key() || told.all[0].Client != want.Client {
			t.Errorf("%s: guards are told %+v, want %+v once", name, told.all, want)
		}
		must(store.Create(t.Context(), m, store.Record{Key: want.Key(), Expires: c.at.Add(time.Hour)}, &want))(t)
		pass(t, s)
		if len(told.all) != 1 || count(t, m, store.KindSweep, store.SweepParent) != 0 {
			t.Errorf("%s: %d notices, %d sweeps are left", name, len(told.all), count(t, m, store.KindSweep, store.SweepParent))
		}
	}
}
