package responsewriter_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
)

// endless writes until somebody has enough. It gives up after 10 MiB.
func endless(w http.ResponseWriter) (written int) {
	for p := make([]byte, 32<<10); written < 10<<20; written += len(p) {
		if _, err := w.Write(p); err != nil {
			return written
		}
	}
	return written
}

func TestSurplusEndsTheAnswerAfterALittle(t *testing.T) {
	for name, writer := range map[string]func(*responsewriter.Surplus) http.ResponseWriter{
		"HEAD": func(s *responsewriter.Surplus) http.ResponseWriter {
			return responsewriter.NewHead(httptest.NewRecorder(), s)
		},
		"emptied": func(s *responsewriter.Surplus) http.ResponseWriter {
			held := responsewriter.NewHold(httptest.NewRecorder(), 10)
			held.Surplus = s
			held.Decide = func() { held.Empty(http.StatusNotModified) }
			return held
		},
		"full": func(s *responsewriter.Surplus) http.ResponseWriter {
			held := responsewriter.NewHold(httptest.NewRecorder(), 10)
			held.Surplus, held.Full = s, func() bool { return true }
			return held
		},
		"recorded": func(s *responsewriter.Surplus) http.ResponseWriter {
			rec := responsewriter.NewRecorder(10)
			rec.Surplus = s
			return rec
		},
	} {
		ctx, s := responsewriter.NewSurplus(t.Context())
		written := 0
		err := s.Send(func() error {
			written = endless(writer(s))
			panic(http.ErrAbortHandler)
		})
		if err != nil || !s.Ended() || written < 200<<10 || written > 300<<10 || ctx.Err() == nil {
			t.Errorf("%s: %v, ended %v after %d bytes, %v", name, err, s.Ended(), written, ctx.Err())
		}
	}
	rec := responsewriter.NewRecorder(10)
	if n := endless(rec); n < 10<<20 {
		t.Errorf("without a surplus the answer ends after %d bytes", n)
	}
}

// An answer of which nothing comes any more is not awaited.
func TestSurplusEndsASilentAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, s := responsewriter.NewSurplus(t.Context())
		begun := time.Now()
		err := s.Send(func() error {
			responsewriter.NewHead(httptest.NewRecorder(), s).WriteHeader(http.StatusOK)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if took := time.Since(begun); err != nil || !s.Ended() || took > 2*time.Second {
			t.Error(err, s.Ended(), took)
		}
		rec := responsewriter.NewRecorder(1 << 20)
		ctx, rec.Surplus = responsewriter.NewSurplus(t.Context())
		err = rec.Surplus.Send(func() error {
			rec.Header().Set("Content-Type", "text/event-stream")
			rec.WriteHeader(http.StatusOK)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if err != nil || !rec.Reply().Cut {
			t.Error(err, rec.Reply())
		}
	})
}

// As long as all of an answer is needed, its failure is one.
func TestSurplusKeepsFailures(t *testing.T) {
	failed := errors.New("failed")
	_, s := responsewriter.NewSurplus(t.Context())
	if err := s.Send(func() error { return failed }); !errors.Is(err, failed) || s.Ended() {
		t.Error(err)
	}
	defer func() {
		if p := recover(); p != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so too
			t.Error(p)
		}
	}()
	_, s = responsewriter.NewSurplus(t.Context())
	_ = s.Send(func() error {
		responsewriter.NewHead(httptest.NewRecorder(), s).WriteHeader(http.StatusOK)
		panic(http.ErrAbortHandler)
	})
}
