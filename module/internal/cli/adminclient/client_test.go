package adminclient

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestCallIsRetriedOnDisconnectNotOnTimeout(t *testing.T) {
	var asked atomic.Int64
	release := make(chan struct{})
	for path, c := range map[string]struct {
		serve http.HandlerFunc
		times int64
	}{
		"/slow": {func(http.ResponseWriter, *http.Request) { <-release }, 1},
		"/gone": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, readTries},
	} {
		asked.Store(0)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			c.serve(w, r)
		}))
		admin, err := New(strings.TrimPrefix(server.URL, "http://"), "", "")
		if err != nil {
			t.Fatal(err)
		}
		admin.http.Timeout = 500 * time.Millisecond
		err = admin.Call(t.Context(), http.MethodGet, path, nil, nil)
		var e *Error
		if !errors.As(err, &e) || e.Exit != ExitUnreachable || asked.Load() != c.times {
			t.Errorf("%s: asked %d times, %v", path, asked.Load(), err)
		}
		if path == "/slow" {
			close(release)
		}
		server.Close()
	}
}

func TestRefusedDownloadSaysWhy(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte(`{"error":{"code":"conflict","message":"no file"}}`))
	}))
	defer server.Close()
	admin, err := New(strings.TrimPrefix(server.URL, "http://"), "", "")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = admin.Download(t.Context(), "/x")
	var e *Error
	if !errors.As(err, &e) || e.Code != "conflict" || e.Message != "no file" {
		t.Error(err)
	}
}
