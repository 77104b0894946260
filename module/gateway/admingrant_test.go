package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/admin"
	"github.com/gatehouse/gatehouse/module/internal/audittrail"
	"github.com/gatehouse/gatehouse/module/internal/core"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/lazy"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// hangingUp ends the request with the notice to the guards, the first step of an ending.
type hangingUp struct {
	store.Backend
	hangUp func()
}

func (h *hangingUp) Create(ctx context.Context, r store.Record) (store.Record, error) {
	h.hangUp()
	return h.Backend.Create(context.WithoutCancel(ctx), r)
}

func (h *hangingUp) List(ctx context.Context, kind store.Kind, parent, after string, limit int) ([]store.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return h.Backend.List(ctx, kind, parent, after, limit)
}

// memorySource is a store in memory.
type memorySource struct{ store.Backend }

func (s memorySource) Identity() any                               { return s.Backend }
func (s memorySource) Open(context.Context) (store.Backend, error) { return s.Backend, nil }

func TestEndContinuesWhenTheCallerDisconnects(t *testing.T) {
	m := storetest.NewMemory(nil)
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	a := &App{issuer: &url.URL{Scheme: "https", Host: "id.example"}, trail: new(audittrail.Trail), log: slog.New(slog.DiscardHandler)}
	var err error
	secrets := [][]byte{[]byte(strings.Repeat("s", 32))}
	if a.core, err = core.New(lazy.NewStore(memorySource{&hangingUp{m, hangUp}}), secrets, core.Key{}, coreLogger); err != nil {
		t.Fatal(err)
	}
	a.core.KeepFor(time.Hour)
	a.attempts = lockout.NewBook(10, time.Now)
	if err := a.buildServer(a.core.Users, caddy.NewReplacer()); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		key := store.Key{Kind: store.KindSession, ID: fmt.Sprint("session-", i)}
		if _, err := m.Create(t.Context(), store.Record{Key: key, Parent: "u-1", Value: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, http.MethodDelete, "/gatehouse/users/u-1/grants", nil)
	admin.Serve(w, r, slog.Default(), func() (*admin.Config, func(), error) { return a.administered(), func() {}, nil })
	if w.Code != http.StatusNoContent || ctx.Err() == nil {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	epoch, err := ending.SubjectEpoch(t.Context(), m, "u-1")
	if err != nil || epoch == 0 {
		t.Errorf("nothing was ended: epoch %d, %v", epoch, err)
	}
}
