package core

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/lazy"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// source opens the store it holds.
type source struct{ store.Backend }

func (s source) Identity() any { return s.Backend }

func (s source) Open(context.Context) (store.Backend, error) { return s.Backend, nil }

func TestStartWaitsForASlowStore(t *testing.T) {
	late := errors.New("no answer within 50ms")
	for _, c := range []struct {
		name    string
		lateFor time.Duration
		want    error
	}{{"for a second", time.Second, nil}, {"for a minute", time.Minute, late}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := storetest.NewMemory(nil)
				core, err := New(lazy.NewStore(source{memory}), [][]byte{bytes.Repeat([]byte("s"), 32)}, Key{}, func(string) *slog.Logger { return slog.New(slog.DiscardHandler) })
				if err != nil {
					t.Fatal(err)
				}
				memory.Fail(late)
				time.AfterFunc(c.lateFor, func() { memory.Fail(nil) })
				began := time.Now()
				if err := core.readSecrets(t.Context()); !errors.Is(err, c.want) {
					t.Errorf("%v after %v, want %v", err, time.Since(began), c.want)
				}
				if waited := time.Since(began); waited > secretsPatience+secretsPause {
					t.Errorf("gave up after %v", waited)
				}
			})
		})
	}
}

func TestGatewayDoesNotStartOnAPartialMove(t *testing.T) {
	memory := storetest.NewMemory(nil)
	if _, err := store.Create(t.Context(), memory, store.Record{Key: store.MoveKey()}, &store.Move{From: "host:/state.db", Begun: time.Now()}); err != nil {
		t.Fatal(err)
	}
	core, err := New(lazy.NewStore(source{memory}), [][]byte{bytes.Repeat([]byte("s"), 32)}, Key{}, func(string) *slog.Logger { return slog.New(slog.DiscardHandler) })
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := core.readSecrets(t.Context()); !errors.Is(err, errUnfinishedMove) || time.Since(began) > secretsPatience/2 {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	if err := memory.Delete(t.Context(), store.MoveKey()); err != nil {
		t.Fatal(err)
	}
	if err := core.readSecrets(t.Context()); err != nil {
		t.Error(err)
	}
}
