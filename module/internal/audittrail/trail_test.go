package audittrail

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/eventqueue"
	"github.com/gatehouse/gatehouse/module/internal/handler"
)

func newTestTrail(events *eventqueue.Queue) (*Trail, *observer.ObservedLogs) {
	core, lines := observer.New(zapcore.InfoLevel)
	t := newTrail(zap.New(core).Named("gatehouse"), events)
	t.now = func() time.Time { return time.Date(2026, 11, 21, 7, 0, 0, 5e6, time.FixedZone("", 3600)) }
	t.node = "node-1"
	return t, lines
}

func TestAuditEventIsALogLine(t *testing.T) {
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

func TestAuditInputStaysOnOneLineAndIsTruncated(t *testing.T) {
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
func TestAuditEventMayOutliveItsRequest(t *testing.T) {
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

func TestDisabledTrailReadsNothingOfARequest(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	unread := newTrail(zap.NewNop(), nil)
	for name, trail := range map[string]*Trail{"off": NewCounting(), "nothing": {}, "no log": unread} {
		if trail.WithFacts(r) != r {
			t.Errorf("%s: it was", name)
		}
	}
	unread.events = new(eventqueue.Queue)
	if unread.WithFacts(r) == r {
		t.Error("events have no facts")
	}
}

func TestEveryEventIsCounted(t *testing.T) {
	on, _ := newTestTrail(nil)
	for state, trail := range map[string]*Trail{"on": on, "off": NewCounting()} {
		for _, name := range audit.Names {
			if trail.counts[name] == nil {
				t.Errorf("%s: %s has no counter", state, name)
			}
			c := new(counted)
			trail.counts[name] = c
			trail.Record(t.Context(), audit.Event{Name: name})
			if *c != 1 {
				t.Errorf("%s: %s was counted %d times", state, name, *c)
			}
		}
	}
}

// counted is a counter that tests can read.
type counted int

func (c *counted) Inc() { *c++ }
