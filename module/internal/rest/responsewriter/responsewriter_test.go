package responsewriter_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
)

func TestHoldPassesAnOversizedAnswer(t *testing.T) {
	for _, keep := range []bool{false, true} {
		client := httptest.NewRecorder()
		held := responsewriter.NewHold(client, 4)
		held.Full = func() bool { return keep }
		for _, text := range []string{"abc", "def", "ghi"} {
			if n, err := io.WriteString(held, text); n != 3 || err != nil {
				t.Fatal(n, err)
			}
		}
		want := "abcdefghi"
		if keep {
			want = ""
		}
		if got := client.Body.String(); got != want || held.Passed() == keep || !held.Cut() {
			t.Errorf("keep %v: the client has %q, passed %v, cut %v", keep, got, held.Passed(), held.Cut())
		}
		if keep && string(held.Body()) != "abcd" {
			t.Errorf("%q is held", held.Body())
		}
	}
}

func TestHoldBuffersAnAnswerUntilItPasses(t *testing.T) {
	client := httptest.NewRecorder()
	client.Header().Set("Server", "Caddy")
	held := responsewriter.NewHold(client, 100)
	held.Header().Set("Content-Type", "application/json")
	held.WriteHeader(http.StatusCreated)
	if _, err := held.ReadFrom(strings.NewReader("{}")); err != nil || client.Body.Len() > 0 {
		t.Fatal(err, client.Body)
	}
	held.Flush()
	if added := held.Added(); client.Flushed || len(added) != 1 || added.Get("Content-Type") == "" {
		t.Error(client.Flushed, added)
	}
	if err := held.Pass(); err != nil || client.Code != http.StatusCreated || client.Body.String() != "{}" {
		t.Error(err, client.Code, client.Body)
	}
	held.Flush()
	if err := held.Pass(); err != nil || client.Body.String() != "{}" || !client.Flushed {
		t.Error("passed twice:", err, client.Body)
	}
}

func TestHoldPassesStreams(t *testing.T) {
	for media, want := range map[string]bool{"text/event-stream; charset=utf-8": true, "application/jsonl": true, "application/ndjson": true, "application/x-jsonlines": true, "application/json": false, "": false} {
		held := responsewriter.NewHold(httptest.NewRecorder(), 100)
		held.Header().Set("Content-Type", media)
		if held.WriteHeader(http.StatusOK); held.Passed() != want {
			t.Errorf("%s: %v", media, held.Passed())
		}
	}
	held := responsewriter.NewHold(httptest.NewRecorder(), 100)
	held.Decide = func() {}
	if held.WriteHeader(http.StatusSwitchingProtocols); !held.Passed() {
		t.Error("101 is held")
	}
}

func TestRecorderReadsMoreThanItKeeps(t *testing.T) {
	rec := responsewriter.NewRecorder(3)
	rec.WriteHeader(http.StatusEarlyHints)
	rec.WriteHeader(http.StatusTeapot)
	rec.WriteHeader(http.StatusOK)
	if n, err := io.WriteString(rec, "abcd"); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	if got := rec.Reply(); got.Status != http.StatusTeapot || string(got.Body) != "abc" || !got.Cut {
		t.Errorf("%+v", got)
	}
	if got := responsewriter.NewRecorder(3).Reply(); got.Status != http.StatusOK || got.Cut {
		t.Errorf("nothing written: %+v", got)
	}
}

func TestOnHeaderIsCalledOnceWithTheFinalHeader(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"WriteHeader": func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK); w.WriteHeader(http.StatusTeapot) },
		"Write":       func(w http.ResponseWriter) { _, _ = io.WriteString(w, "a"); _, _ = io.WriteString(w, "b") },
		"Flush":       func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() },
	} {
		calls := 0
		client := httptest.NewRecorder()
		answer(responsewriter.OnHeader(client, func(h http.Header) { calls++; h.Set("X-Seen", "1") }))
		if calls != 1 || client.Result().Header.Get("X-Seen") != "1" {
			t.Errorf("%s: called %d times, %v", name, calls, client.Result().Header)
		}
	}
}
