package audittrail

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
)

func newTestTrail(events *eventQueue) (*Trail, *observer.ObservedLogs) {
	core, lines := observer.New(zapcore.InfoLevel)
	t := newTrail(zap.New(core).Named("gatehouse"), events)
	t.now = func() time.Time { return time.Date(2026, 11, 21, 7, 0, 0, 5e6, time.FixedZone("", 3600)) }
	t.node = "node-1"
	return t, lines
}

func TestAnEventIsALineOfTheAuditLogger(t *testing.T) {
	trail, lines := newTestTrail(nil)
	trail.Record(t.Context(), audit.Event{
		Name: audit.Issue, Client: "web", Subject: "u-1", Grant: "g", Scopes: []string{"read", "write"}, Reason: "authorization_code",
	})
	all := lines.All()
	if len(all) != 1 || all[0].LoggerName != "gatehouse.audit" || all[0].Level != zapcore.InfoLevel || all[0].Message != "issue" {
		t.Fatalf("%+v", all)
	}
	var names []string
	for _, f := range all[0].Context {
		names = append(names, f.Key)
	}
	if want := []string{"time", "event", "client", "subject", "grant", "scopes", "reason", "node"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if m := all[0].ContextMap(); m["time"] != "2026-11-21T06:00:00.005Z" || m["node"] != "node-1" || m["event"] != "issue" {
		t.Errorf("%v", m)
	}
}

func TestWhatSomebodyTypedStaysOnTheLineAndIsCut(t *testing.T) {
	for name, typed := range map[string]string{
		"a line break":          "alice\n{\"event\":\"sign_in\"}",
		"a carriage return":     "alice\rbob",
		"an escape sequence":    "alice\x1b[2J",
		"a line separator":      "alice\u2028bob\u2029",
		"a change of direction": "alice\u202ebob",
		"nothing visible":       "a\u200bb\x00",
		"broken UTF-8":          "alice\xff\xfe",
		"much of it":            strings.Repeat("漢", 1000),
	} {
		trail, lines := newTestTrail(nil)
		trail.Record(t.Context(), audit.Event{Name: audit.SignInFailed, User: typed, Scopes: slices.Repeat([]string{typed}, 1000)})
		all := lines.All()
		got, _ := all[0].ContextMap()["user"].(string)
		if strings.ContainsAny(got, "\n\r\x00\x1b\u2028\u2029\u202e\u200b") || !utf8.ValidString(got) || len(got) > 4*maxAuditField || got == "" {
			t.Errorf("%s: %q", name, got)
		}
		if name == "much of it" && strings.ContainsRune(got, utf8.RuneError) {
			t.Errorf("%s: cut within a character: %q", name, got)
		}
		raw, err := zapcore.NewJSONEncoder(zapcore.EncoderConfig{}).EncodeEntry(all[0].Entry, all[0].Context)
		if err != nil || strings.Count(strings.TrimSpace(raw.String()), "\n") != 0 || raw.Len() > 64<<10 {
			t.Errorf("%s: a line of %d bytes: %v", name, raw.Len(), err)
		}
	}
}

// A key is made on a goroutine of its own, for a client that may be gone meanwhile.
func TestAnEventMayBeRecordedWhenItsRequestIsOver(t *testing.T) {
	trail, lines := newTestTrail(nil)
	r := httptest.NewRequest("GET", "/", nil)
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), new(caddyhttp.Server))
	caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, "192.0.2.1")
	ctx := trail.WithFacts(r).Context()
	id := handler.RequestID(r)
	var both sync.WaitGroup
	both.Go(func() { trail.Record(context.WithoutCancel(ctx), audit.Event{Name: audit.KeyRotated}) })
	both.Go(func() { caddyhttp.SetVar(r.Context(), "later", true) }) // the race detector sees who else looks
	both.Wait()
	if m := lines.All()[0].ContextMap(); m["ip"] != "192.0.2.1" || m["request_id"] != id || id == "" {
		t.Errorf("%v", m)
	}
}

func TestNothingIsTakenOfARequestForATrailThatNobodyReads(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	unread := newTrail(zap.NewNop(), nil)
	for name, trail := range map[string]*Trail{"off": {}, "no log": unread} {
		if trail.WithFacts(r) != r {
			t.Errorf("%s: it was", name)
		}
	}
	q, _ := newTestQueue(nil)
	unread.events = q
	if unread.WithFacts(r) == r {
		t.Error("events have no facts")
	}
}

func TestEveryEventIsCounted(t *testing.T) {
	trail, _ := newTestTrail(nil)
	for _, name := range audit.Names {
		if trail.counts[name] == nil {
			t.Errorf("%s has no counter", name)
		}
		c := new(counted)
		trail.counts[name] = c
		trail.Record(t.Context(), audit.Event{Name: name})
		if c.count() != 1 {
			t.Errorf("%s was counted %d times", name, c.count())
		}
	}
}

// counted is a counter that tests can read.
type counted struct {
	mu sync.Mutex
	n  int
}

func (c *counted) Inc() { c.mu.Lock(); c.n++; c.mu.Unlock() }

func (c *counted) count() int { c.mu.Lock(); defer c.mu.Unlock(); return c.n }

var _ metrics.Counter = (*counted)(nil)

func newTestQueue(emit func(string, map[string]any)) (*eventQueue, *counted) {
	dropped := new(counted)
	return &eventQueue{
		emit: emit, active: func() bool { return true }, log: zap.NewNop(),
		waiting: make(chan queuedEvent, maxQueuedEvents), dropped: dropped,
	}, dropped
}

func TestARequestDoesNotWaitForAHandlerAndTheQueueHasACap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		handled := 0
		q, dropped := newTestQueue(func(string, map[string]any) { <-release; handled++ })
		ctx, cancel := context.WithCancel(t.Context())
		go q.run(ctx)
		trail, lines := newTestTrail(q)
		const sent = 3 * maxQueuedEvents
		for range sent {
			trail.Record(t.Context(), audit.Event{Name: audit.Issue})
			synctest.Wait()
		}
		if lines.Len() != sent {
			t.Errorf("%d lines of %d", lines.Len(), sent)
		}
		if n := dropped.count(); n != sent-maxQueuedEvents-1 { // one is with the handler
			t.Errorf("%d counted as dropped", n)
		}
		close(release)
		synctest.Wait()
		if handled != maxQueuedEvents+1 {
			t.Errorf("%d handled", handled)
		}
		cancel()
		synctest.Wait()
	})
}

func TestAHandlerThatPanicsEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		q, _ := newTestQueue(func(name string, _ map[string]any) {
			got = append(got, name)
			panic("on purpose")
		})
		ctx, cancel := context.WithCancel(t.Context())
		go q.run(ctx)
		q.put("a", nil)
		q.put("b", nil)
		synctest.Wait()
		if !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("%v", got)
		}
		cancel()
		synctest.Wait()
	})
}

func TestNothingIsEmittedBeforeTheConfigurationRunsOrAfterItEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		emitted := new(counted)
		q, dropped := newTestQueue(func(string, map[string]any) { emitted.Inc() })
		var running atomic.Bool
		q.active = running.Load
		ctx, cancel := context.WithCancel(t.Context())
		go q.run(ctx)
		q.put("a", nil)
		time.Sleep(time.Second)
		if emitted.count() != 0 {
			t.Error("emitted before the configuration runs")
		}
		running.Store(true)
		time.Sleep(2 * activePause)
		if emitted.count() != 1 {
			t.Error("what waited was not emitted")
		}
		cancel()
		synctest.Wait()
		q.put("b", nil)
		if emitted.count() != 1 || dropped.count() != 1 {
			t.Errorf("%d emitted, %d dropped", emitted.count(), dropped.count())
		}
	})
}

func TestAConfigurationThatNeverRunsLeavesNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, dropped := newTestQueue(func(string, map[string]any) { t.Error("emitted") })
		q.active = func() bool { return false }
		ctx, cancel := context.WithCancel(t.Context())
		go q.run(ctx)
		q.put("a", nil)
		time.Sleep(time.Second)
		cancel()
		synctest.Wait() // the test fails when a goroutine is left
		if dropped.count() != 1 {
			t.Errorf("%d counted as dropped", dropped.count())
		}
	})
}
