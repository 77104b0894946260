package admin

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// uncopied is a store whose file cannot be copied.
type uncopied struct {
	store.Backend
	fault error
}

func (u uncopied) Snapshot(context.Context) (*store.Snapshot, error) {
	return nil, fmt.Errorf("store: %w", u.fault)
}

func (u uncopied) Compact(context.Context) (before, after int64, err error) {
	return 0, 0, fmt.Errorf("store: %w", u.fault)
}

// The caller learns what to do: to wait for the other copy, or to make room.
func TestFailedBackupReportsItsReason(t *testing.T) {
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	for _, c := range []struct {
		method, path string
		fault        error
		status       int
		want         string
	}{
		{"GET", "backup", store.ErrBusy, http.StatusConflict, `"code":"conflict","message":"the state is being copied already, for a backup or a compaction: try again`},
		{"POST", "compact", store.ErrBusy, http.StatusConflict, `"code":"conflict","message":"the state is being copied already`},
		{"GET", "backup", syscall.ENOSPC, http.StatusInsufficientStorage, `"code":"no_space"`},
	} {
		backend := uncopied{storetest.NewMemory(nil), c.fault}
		config := &Config{OpenStore: func(context.Context) (store.Backend, error) { return backend, nil }}
		w := httptest.NewRecorder()
		Serve(w, httptest.NewRequest(c.method, adminapi.Path(c.path), nil), log, func() (*Config, func(), error) { return config, func() {}, nil })
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) || logged.Len() > 0 {
			t.Errorf("%s, %v: %d %s, logged %s", c.path, c.fault, w.Code, w.Body, &logged)
		}
	}
}
