package ending_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

var errDown = errors.New("the store is down")

// clock is a time that a test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// notices keeps what guards are told.
type notices struct {
	mu  sync.Mutex
	all []store.Revocation
	err error
}

func (n *notices) Revoke(_ context.Context, r store.Revocation) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, r)
	return n.err
}

// watched calls back before each operation.
type watched struct {
	store.Backend
	before func()
}

func (w *watched) op() {
	if w.before != nil {
		w.before()
	}
}

func (w *watched) Get(ctx context.Context, k store.Key) (store.Record, error) {
	w.op()
	return w.Backend.Get(ctx, k)
}

func (w *watched) Create(ctx context.Context, r store.Record) (store.Record, error) {
	w.op()
	return w.Backend.Create(ctx, r)
}

func (w *watched) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	w.op()
	return w.Backend.Swap(ctx, r)
}

func (w *watched) Delete(ctx context.Context, k store.Key) error {
	w.op()
	return w.Backend.Delete(ctx, k)
}

func (w *watched) Confirm(ctx context.Context, k store.Key) error {
	return store.Confirm(ctx, w.Backend, k)
}

func (w *watched) ConfirmList(ctx context.Context, kind store.Kind, parent string) error {
	return store.ConfirmList(ctx, w.Backend, kind, parent)
}

// fatal is what tests and rapid's checks have in common.
type fatal interface {
	Helper()
	Fatalf(string, ...any)
}

func must[T any](v T, err error) func(fatal) T {
	return func(t fatal) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%v", err)
		}
		return v
	}
}

func newEnder(t fatal, b store.Backend, c *clock) (*ending.Ender, *notices) {
	told := &notices{}
	return must(ending.NewEnder(ending.Config{Store: b, Revocations: told, Now: c.now}))(t), told
}

// TestSignInBeforeAnEndNeverOutlivesIt has sign-ins begin at every moment of some ends of a
// user and of one client: whoever began before an end is dead after it, whoever began after
// it lives, and in between it is the later ones that live. Clocks of nodes differ by hours.
func TestSignInBeforeAnEndNeverOutlivesIt(t *testing.T) { // N02
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		c := &clock{time.Unix(1_900_000_000, 0)}
		w := &watched{Backend: storetest.NewMemory(func() time.Time { return time.Unix(1_900_000_000, 0) })}
		e, _ := newEnder(t, w, c)
		var signIns []store.Epochs
		begin := func() { // as the password grant does: both from the counter
			g := must(ending.CurrentEpoch(ctx, w.Backend))(t)
			signIns = append(signIns, store.Epochs{Subject: g, Pair: g})
		}
		check := func(before int) {
			t.Helper()
			lives := false
			for i, s := range signIns {
				dead := must(ending.Ended(ctx, w.Backend, "u", "c", s))(t)
				if i < before && !dead {
					t.Fatalf("sign-in %d of before the end lives", i)
				}
				if lives && dead {
					t.Fatalf("sign-in %d is dead and an earlier one lives", i)
				}
				lives = lives || !dead
			}
			begin()
			if must(ending.Ended(ctx, w.Backend, "u", "c", signIns[len(signIns)-1]))(t) {
				t.Fatalf("a sign-in of after the end is dead")
			}
			if must(ending.Ended(ctx, w.Backend, "other", "c", store.Epochs{}))(t) ||
				must(ending.Ended(ctx, w.Backend, "u", "", store.Epochs{Subject: signIns[len(signIns)-1].Subject}))(t) {
				t.Fatalf("somebody else was ended")
			}
		}
		for range rapid.IntRange(1, 5).Draw(t, "ends") {
			begin()
			before := len(signIns)
			w.before = begin
			c.at = c.at.Add(time.Duration(rapid.IntRange(-7200, 7200).Draw(t, "skew")) * time.Second)
			if rapid.Bool().Draw(t, "everything") {
				must(0, e.EndSubject(ctx, "u"))(t)
			} else {
				must(0, e.EndPair(ctx, "c", "u"))(t)
			}
			w.before = nil
			check(before)
		}
	})
}

func TestEndingAPairSparesOthers(t *testing.T) {
	ctx, m := t.Context(), storetest.NewMemory(nil)
	e, told := newEnder(t, m, &clock{time.Now()})
	must(0, e.EndPair(ctx, "c", "u"))(t)
	for _, c := range []struct {
		client, subject string
		dead            bool
	}{{"c", "u", true}, {"d", "u", false}, {"c", "v", false}, {"", "u", false}} {
		if dead := must(ending.Ended(ctx, m, c.subject, c.client, store.Epochs{}))(t); dead != c.dead {
			t.Errorf("%+v: %v", c, dead)
		}
	}
	if len(told.all) != 1 || told.all[0].Of != store.RevokePair || told.all[0].Value != store.PairID("c", "u") || told.all[0].Epoch == 0 {
		t.Errorf("guards were told %+v", told.all)
	}
}

func TestFailedEndCanBeRepeated(t *testing.T) {
	ctx, m := t.Context(), storetest.NewMemory(nil)
	e, told := newEnder(t, m, &clock{time.Now()})
	told.err = errDown
	if err := e.EndSubject(ctx, "u"); !errors.Is(err, errDown) {
		t.Errorf("%v: the guards were not told", err)
	}
	told.err = nil
	must(0, e.EndSubject(ctx, "u"))(t)
	if len(told.all) != 2 || told.all[1].Epoch <= told.all[0].Epoch {
		t.Errorf("%+v", told.all)
	}
	m.Fail(errDown)
	for _, err := range []error{e.EndSubject(ctx, "u"), e.EndPair(ctx, "c", "u")} {
		if !errors.Is(err, errDown) {
			t.Error(err)
		}
	}
	if _, err := ending.Ended(ctx, m, "u", "c", store.Epochs{}); !errors.Is(err, errDown) {
		t.Error(err)
	}
	if _, err := ending.CurrentEpoch(ctx, m); !errors.Is(err, errDown) {
		t.Error(err)
	}
}

func TestParallelEndsGetDistinctEpochs(t *testing.T) {
	ctx, m := t.Context(), storetest.NewMemory(nil)
	e, told := newEnder(t, m, &clock{time.Now()})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 10 {
				if err := e.EndSubject(ctx, fmt.Sprint("u", i%3)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	seen, highest := make(map[int64]bool), make(map[string]int64)
	for _, r := range told.all {
		if seen[r.Epoch] {
			t.Fatalf("epoch %d was given out twice", r.Epoch)
		}
		seen[r.Epoch] = true
		highest[r.Value] = max(highest[r.Value], r.Epoch)
	}
	for subject, want := range highest {
		if got := must(ending.SubjectEpoch(ctx, m, subject))(t); got != want {
			t.Errorf("%s is at epoch %d, want %d", subject, got, want)
		}
	}
}

// TestHundredConcurrentEndsSucceed: every end writes the one counter, so that whoever signs
// out in a hundred browsers at once could keep others from ending anything.
func TestHundredConcurrentEndsSucceed(t *testing.T) { // N02
	for name, user := range map[string]func(int) string{
		"of one user":    func(int) string { return "u" },
		"of many users":  func(i int) string { return fmt.Sprint("u", i) },
		"on three nodes": func(i int) string { return fmt.Sprint("u", i) },
	} {
		t.Run(name, func(t *testing.T) {
			slow := &watched{Backend: storetest.NewMemory(nil), before: func() { time.Sleep(200 * time.Microsecond) }}
			var nodes []*ending.Ender
			for range 3 {
				e, _ := newEnder(t, slow, &clock{time.Now()})
				nodes = append(nodes, e)
				if name != "on three nodes" {
					break
				}
			}
			var all sync.WaitGroup
			for i := range 200 {
				all.Go(func() {
					if err := nodes[i%len(nodes)].EndSubject(t.Context(), user(i)); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		})
	}
}
