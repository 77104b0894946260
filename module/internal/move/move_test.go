package move

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// records are a source.
type records []store.Record

func (r records) Walk(_ context.Context, visit func([]store.Record) error) error {
	for begin := 0; begin < len(r); begin += 10 {
		if err := visit(r[begin:min(begin+10, len(r))]); err != nil {
			return err
		}
	}
	return nil
}

// target is a store in memory that fails now and then, and refuses after so many writes.
type target struct {
	store.Backend
	faults  chan error
	refuse  func(store.Record) error
	nothing bool
}

func newTarget() *target { return &target{Backend: storetest.NewMemory(nil), nothing: true} }

func (g *target) Empty(context.Context) (bool, error) { return g.nothing, nil }

func (g *target) Create(ctx context.Context, r store.Record) (store.Record, error) {
	select {
	case err := <-g.faults: // the write took effect, and its answer was lost
		_, _ = g.Backend.Create(ctx, r)
		return store.Record{}, err
	default:
	}
	if g.refuse != nil {
		if err := g.refuse(r); err != nil {
			return store.Record{}, err
		}
	}
	return g.Backend.Create(ctx, r)
}

func some(n int) (all records) {
	for i := range n {
		r := store.Record{Key: store.Key{Kind: store.KindSession, ID: fmt.Sprint(i)}, Value: fmt.Append(nil, "value ", i)}
		if i%2 == 0 {
			r.Parent = "alice"
		}
		if i%3 == 0 {
			r.Expires = time.Now().Add(time.Duration(i+1) * time.Hour)
		}
		all = append(all, r)
	}
	return all
}

func TestRecordsAreCopiedUnchanged(t *testing.T) {
	from, to, seen := some(45), newTarget(), int64(0)
	again, err := Begin(t.Context(), to, "here")
	if err != nil || again {
		t.Fatal(again, err)
	}
	to.faults = make(chan error, 3)
	for range cap(to.faults) {
		to.faults <- errors.New("no answer")
	}
	if err := Copy(t.Context(), from, to, func(n int64) { seen += n }); err != nil || seen != 45 {
		t.Fatal(seen, err)
	}
	if err := Check(t.Context(), from, to, nil); err != nil {
		t.Fatal(err)
	}
	if err := End(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	for _, want := range from {
		got, err := to.Get(t.Context(), want.Key)
		if err != nil || string(got.Value) != string(want.Value) || got.Parent != want.Parent || got.Expires.Sub(want.Expires).Abs() > precision {
			t.Errorf("%s: %+v, %v", want.ID, got, err)
		}
	}
	if _, err := to.Get(t.Context(), store.MoveKey()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the mark of the move: %v", err)
	}
}

func TestInterruptedMoveResumes(t *testing.T) {
	from, to, stop := some(45), newTarget(), errors.New("stop")
	if _, err := Begin(t.Context(), to, "here"); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	to.refuse = func(r store.Record) error {
		if r.ID == "31" {
			cancel()
			return stop
		}
		return nil
	}
	if err := Copy(over, from, to, nil); !errors.Is(err, stop) && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	to.refuse, to.nothing = nil, false
	if err := Check(t.Context(), from, to, nil); !errors.Is(err, errDiffers) {
		t.Errorf("half of the records: %v", err)
	}
	if _, err := Begin(t.Context(), to, "elsewhere"); !errors.Is(err, errOtherMove) {
		t.Errorf("another source: %v", err)
	}
	if again, err := Begin(t.Context(), to, "here"); err != nil || !again {
		t.Fatal(again, err)
	}
	if err := Copy(t.Context(), from, to, nil); err != nil {
		t.Fatal(err)
	}
	if err := Check(t.Context(), from, to, nil); err != nil {
		t.Fatal(err)
	}
}

func TestNonEmptyStoreIsNoMoveTarget(t *testing.T) {
	to := newTarget()
	to.nothing = false
	if _, err := Begin(t.Context(), to, "here"); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("%v", err)
	}
	if _, err := to.Get(t.Context(), store.MoveKey()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it is marked: %v", err)
	}
}

func TestCheckFindsEachDifference(t *testing.T) {
	for name, change := range map[string]func(*store.Record){
		"value":          func(r *store.Record) { r.Value = []byte("other") },
		"parent":         func(r *store.Record) { r.Parent = "bob" },
		"a later expiry": func(r *store.Record) { r.Expires = r.Expires.Add(time.Second) },
		"no expiry":      func(r *store.Record) { r.Expires = time.Time{} },
		"key":            func(r *store.Record) { r.ID = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			from, to := some(1), newTarget()
			other := from[0]
			change(&other)
			if _, err := to.Create(t.Context(), other); err != nil {
				t.Fatal(err)
			}
			if err := Check(t.Context(), from, to, nil); !errors.Is(err, errDiffers) {
				t.Errorf("the check: %v", err)
			}
			if err := Copy(t.Context(), from, to, nil); name != "key" && !errors.Is(err, errDiffers) {
				t.Errorf("the copy: %v", err)
			}
		})
	}
}

// unlisted is a target whose index has lost a child.
type unlisted struct{ *target }

func (u unlisted) List(ctx context.Context, kind store.Kind, parent, after string, limit int) ([]store.Record, error) {
	found, err := u.target.List(ctx, kind, parent, after, limit)
	return found[:max(0, len(found)-1)], err
}

func TestUnlistedChildFailsTheCheck(t *testing.T) {
	from, to := records{{Key: store.Key{Kind: store.KindUser, ID: "a"}, Parent: "users"}}, newTarget()
	if err := Copy(t.Context(), from, to, nil); err != nil {
		t.Fatal(err)
	}
	if err := Check(t.Context(), from, unlisted{to}, nil); !errors.Is(err, errDiffers) {
		t.Errorf("%v", err)
	}
}

func TestRecordExpiredDuringTheMoveIsNotMissing(t *testing.T) {
	soon := store.Record{Key: store.Key{Kind: store.KindCode, ID: "a"}, Expires: time.Now().Add(-time.Millisecond)}
	if err := Check(t.Context(), records{soon}, newTarget(), nil); err != nil {
		t.Error(err)
	}
}
