package gateway

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func TestPanicIsAnsweredWithoutItsValue(t *testing.T) {
	for name, c := range map[string]struct {
		value   any
		written bool
		aborts  bool
		status  int
	}{
		"nothing written":    {"the password was canary", false, false, http.StatusInternalServerError},
		"half an answer":     {"the password was canary", true, true, http.StatusOK},
		"the client is gone": {http.ErrAbortHandler, false, true, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			s := &Server{log: slog.New(slog.NewTextHandler(&log, nil))}
			w := httptest.NewRecorder()
			var again any
			func() {
				defer func() { again = recover() }()
				rec := caddyhttp.NewResponseRecorder(w, nil, nil)
				defer s.recovered(rec)
				if c.written {
					_, _ = rec.Write([]byte("half"))
				}
				panic(c.value)
			}()
			if (again == http.ErrAbortHandler) != c.aborts || w.Code != c.status {
				t.Errorf("panicked again with %v, answered %d", again, w.Code)
			}
			if strings.Contains(log.String(), "canary") || c.value != http.ErrAbortHandler && !strings.Contains(log.String(), "panicked") {
				t.Errorf("%s", &log)
			}
		})
	}
}
