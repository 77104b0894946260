package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

func TestMemoryMeetsTheContract(t *testing.T) {
	Run(t, func(_ *testing.T, now func() time.Time) store.Backend { return NewMemory(now) })
}

func memoryStage(t *testing.T) (*stage, *Memory) {
	s := newStage(t, func(_ *testing.T, now func() time.Time) store.Backend { return NewMemory(now) })
	m, ok := s.Backend.(*Memory)
	if !ok {
		t.Fatal("not a Memory")
	}
	return s, m
}

func TestFailingMemoryFailsEveryCallAndRecovers(t *testing.T) {
	s, m := memoryStage(t)
	s.mustCreate(newRecord("k", "a", "p", ""))
	f := s.startWatch("k")
	f.markLoaded()
	broken := errors.New("broken")
	m.Fail(broken)
	if err := f.endFeed(); !errors.Is(err, broken) {
		t.Errorf("the running Watch ended with %v", err)
	}
	s.everyCall(s.ctx, func(method string, err error) {
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", method, err)
		}
	})
	m.Fail(nil)
	s.mustGet(store.Key{Kind: "k", ID: "a"})
	if m.Len() != 1 {
		t.Errorf("Len = %d after failed calls, want 1", m.Len())
	}
}

func TestLostReplyHidesASuccessfulWrite(t *testing.T) {
	s, m := memoryStage(t)
	lost := errors.New("lost")
	m.LoseReply(lost)
	if _, err := s.Create(s.ctx, newRecord("k", "a", "", "x")); !errors.Is(err, lost) {
		t.Fatalf("Create: %v", err)
	}
	r := s.mustGet(store.Key{Kind: "k", ID: "a"})
	s.mustSwap(r)
}

func TestMemoryWithoutReplicasWritesAndConfirmsNothing(t *testing.T) {
	s, m := memoryStage(t)
	kept := s.mustCreate(newRecord("k", "a", "p", ""))
	alone := errors.New("no replica")
	m.LoseReplicas(alone)
	made := newRecord("k", "b", "p", "")
	stale := kept
	for what, err := range map[string]error{
		"Create":          func() error { _, err := s.Create(s.ctx, made); return err }(),
		"Create again":    func() error { _, err := s.Create(s.ctx, made); return err }(),
		"Swap":            func() error { _, err := s.Swap(s.ctx, kept); return err }(),
		"Swap again":      func() error { _, err := s.Swap(s.ctx, stale); return err }(),
		"Delete":          s.Delete(s.ctx, kept.Key),
		"Swap of nothing": func() error { _, err := s.Swap(s.ctx, kept); return err }(),
		"Confirm":         store.Confirm(s.ctx, m, kept.Key),
		"ConfirmList":     store.ConfirmList(s.ctx, m, "k", "p"),
	} {
		if !errors.Is(err, alone) {
			t.Errorf("%s: %v", what, err)
		}
	}
	s.wantEqual(s.listIDs("k", "p", "", 10), "b")
	m.LoseReplicas(nil)
	if err := errors.Join(store.Confirm(s.ctx, m, kept.Key), store.ConfirmList(s.ctx, m, "k", "p")); err != nil {
		t.Error(err)
	}
	s.mustGet(made.Key)
}

func TestLenCountsLiveRecords(t *testing.T) {
	s, m := memoryStage(t)
	s.mustCreate(s.newExpiring("a", "", time.Minute))
	s.mustCreate(newRecord("k", "b", "", ""))
	s.clock.advance(time.Hour)
	if m.Len() != 1 {
		t.Errorf("Len = %d, want 1", m.Len())
	}
}

func TestWatcherFarBehindIsEnded(t *testing.T) {
	m := NewMemory(nil)
	block, entered := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	calls := 0
	go func() {
		ended <- m.Watch(context.Background(), "k", func([]store.Record) {
			if calls++; calls == 2 {
				close(entered)
				<-block
			}
		})
	}()
	for i := 0; ; i++ {
		if _, err := m.Create(t.Context(), newRecord("k", fmt.Sprint(i), "", "")); err != nil {
			t.Fatal(err)
		}
		select {
		case <-entered:
		default:
			continue
		}
		break
	}
	for i := range backlog + 1 {
		if _, err := m.Create(t.Context(), newRecord("k", fmt.Sprint("more ", i), "", "")); err != nil {
			t.Fatal(err)
		}
	}
	close(block)
	if err := <-ended; !errors.Is(err, errBehind) {
		t.Fatalf("Watch ended with %v", err)
	}
}
