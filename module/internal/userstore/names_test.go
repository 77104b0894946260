package userstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func TestUsernamesAreCaseInsensitive(t *testing.T) {
	s, _, c := fresh(t)
	create(t, s, "Ann")
	c.pass(time.Hour)
	for _, name := range []string{"Ann", "ann", "ANN"} {
		if _, err := s.Create(t.Context(), directory.User{Username: name}, "battery staple"); !errors.Is(err, ErrTaken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	signsIn(t, s, "ann", "battery staple", false) // as in the users' file
	signsIn(t, s, "Ann", "battery staple", true)
	if list, err := s.List(t.Context(), "", 10); len(list) != 1 || err != nil {
		t.Errorf("%d users, %v", len(list), err)
	}
}

func TestParallelCreatesOfANameSucceedOnce(t *testing.T) {
	s, _, _ := fresh(t)
	s.hash = func(string) string { return aHash }
	var made atomic.Int32
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			_, err := s.Create(context.Background(), directory.User{Username: "ann"}, "battery staple")
			switch {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, ErrTaken):
				t.Error(err)
			}
		})
	}
	group.Wait()
	list, err := s.List(t.Context(), "", 30)
	if made.Load() != 1 || len(list) != 1 || err != nil {
		t.Errorf("%d made, %d listed, %v", made.Load(), len(list), err)
	}
}

// dying is a store whose process ends before the n-th write.
type dying struct {
	*storetest.Memory
	left atomic.Int64
}

var errDead = errors.New("the process is gone")

func (d *dying) Create(ctx context.Context, r store.Record) (store.Record, error) {
	if d.left.Add(-1) < 0 {
		return store.Record{}, errDead
	}
	return d.Memory.Create(ctx, r)
}

func (d *dying) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	if d.left.Add(-1) < 0 {
		return store.Record{}, errDead
	}
	return d.Memory.Swap(ctx, r)
}

func (d *dying) Delete(ctx context.Context, key store.Key) error {
	if d.left.Add(-1) < 0 {
		return errDead
	}
	return d.Memory.Delete(ctx, key)
}

func TestCrashBetweenWritesReservesNoNameForever(t *testing.T) {
	t.Run("creating", func(t *testing.T) {
		c := newClock()
		d := &dying{Memory: storetest.NewMemory(c.now)}
		s := cheaply(t, users(t, d, c.now))
		d.left.Store(1)
		if _, err := s.Create(t.Context(), directory.User{Username: "ann"}, "battery staple"); !errors.Is(err, errDead) {
			t.Fatal(err)
		}
		d.left.Store(100)
		signsIn(t, s, "ann", "battery staple", false)
		if _, err := s.Create(t.Context(), directory.User{Username: "ann"}, "battery staple"); !errors.Is(err, ErrTaken) {
			t.Errorf("a name was taken over from somebody who may still be at it: %v", err)
		}
		c.pass(orphaned)
		create(t, s, "ann")
		signsIn(t, s, "ann", "battery staple", true)
	})
	t.Run("deleting", func(t *testing.T) {
		c := newClock()
		d := &dying{Memory: storetest.NewMemory(c.now)}
		d.left.Store(100)
		s := cheaply(t, users(t, d, c.now))
		u := create(t, s, "ann")
		c.pass(time.Hour)
		d.left.Store(1)
		if err := s.Delete(t.Context(), u.ID); !errors.Is(err, errDead) {
			t.Fatal(err)
		}
		d.left.Store(100)
		signsIn(t, s, "ann", "battery staple", false)
		if _, ok, err := s.Lookup(t.Context(), u.ID); ok || err != nil {
			t.Errorf("the user is still there: %v", err)
		}
		if create(t, s, "ann").ID == u.ID {
			t.Error("the ID was used again")
		}
	})
}

// slow holds the creation of one user's record until it is let go.
type slow struct {
	*storetest.Memory
	held    atomic.Bool
	reached chan struct{}
	release chan struct{}
}

func (s *slow) Create(ctx context.Context, r store.Record) (store.Record, error) {
	if r.Kind == store.KindUser && s.held.CompareAndSwap(false, true) {
		close(s.reached)
		<-s.release
	}
	return s.Memory.Create(ctx, r)
}

func TestLostNameReservationCreatesNoSecondUser(t *testing.T) {
	c := newClock()
	b := &slow{Memory: storetest.NewMemory(c.now), reached: make(chan struct{}), release: make(chan struct{})}
	s := cheaply(t, users(t, b, c.now))
	late := make(chan error)
	go func() {
		_, err := s.Create(context.Background(), directory.User{Username: "ann"}, "the late password")
		late <- err
	}()
	<-b.reached
	c.pass(2 * orphaned)
	u := create(t, s, "ann")
	close(b.release)
	if err := <-late; !errors.Is(err, ErrTaken) {
		t.Errorf("the late one: %v", err)
	}
	list, err := s.List(t.Context(), "", 10)
	if len(list) != 1 || list[0].ID != u.ID || err != nil {
		t.Errorf("%+v, %v", list, err)
	}
	signsIn(t, s, "ann", "battery staple", true)
	signsIn(t, s, "ann", "the late password", false)
}

func TestReleasingANameSparesItsNewOwner(t *testing.T) {
	s, _, c := fresh(t)
	u := create(t, s, "ann")
	c.pass(time.Hour)
	if err := s.store.Delete(t.Context(), store.Key{Kind: store.KindUser, ID: u.ID}); err != nil {
		t.Fatal(err)
	}
	again := create(t, s, "ann") // between the two writes of a deletion
	if err := s.releaseName(t.Context(), "ann", u.ID); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := s.Find(t.Context(), "ann"); !ok || got.ID != again.ID || err != nil {
		t.Errorf("Find = %+v, %t, %v", got, ok, err)
	}
}

// meddling is a store in which something happens right before a name is given up.
type meddling struct {
	*storetest.Memory
	before func()
}

func (m *meddling) happen(kind store.Kind) {
	if do := m.before; do != nil && kind == store.KindUsername {
		m.before = nil
		do()
	}
}

func (m *meddling) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	m.happen(r.Kind)
	return m.Memory.Swap(ctx, r)
}

func (m *meddling) Delete(ctx context.Context, key store.Key) error {
	m.happen(key.Kind)
	return m.Memory.Delete(ctx, key)
}

func TestNameTakenDuringReleaseKeepsItsNewOwner(t *testing.T) {
	c := newClock()
	m := &meddling{Memory: storetest.NewMemory(c.now)}
	s := cheaply(t, users(t, m, c.now))
	u := create(t, s, "ann")
	c.pass(time.Hour)
	var again directory.User
	m.before = func() { again = create(t, s, "ann") }
	if err := s.Delete(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := s.Find(t.Context(), "ann"); !ok || err != nil || got.ID != again.ID {
		t.Errorf("Find = %+v, %t, %v, want %s", got, ok, err, again.ID)
	}
}
