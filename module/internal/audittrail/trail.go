// Package audittrail writes the audit trail: a line of the logger `gatehouse.audit` for each event,
// and a Caddy event for those who subscribe. It knows Caddy's loggers and events, and nothing of
// what the events are about.
package audittrail

import (
	"context"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/eventqueue"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
)

// Limits on untrusted text in a line: real names are shorter, and nobody should be able to fill
// the disk.
const (
	maxAuditField  = 256 // bytes of one value
	maxAuditScopes = 32
)

// Trail is the audit trail of one configuration. Record returns when the line is written. The
// zero value does nothing, not even count.
type Trail struct {
	ctx    caddy.Context
	log    *zap.Logger // nil: events are only counted
	node   string
	events *eventqueue.Queue
	counts map[audit.Name]metrics.Counter
	now    func() time.Time
}

// New makes the trail of the configuration whose gatehouse app ctx is for. active reports whether
// that configuration runs.
func New(ctx caddy.Context, active func() bool) (*Trail, error) {
	names := make([]string, len(audit.Names))
	for i, name := range audit.Names {
		names[i] = eventName(name)
	}
	queue, err := eventqueue.New(ctx, active, metrics.Set{}.AuditDropped(), names...)
	t := newTrail(ctx.Logger(), queue)
	t.ctx = ctx
	return t, err
}

// NewCounting makes the trail of a configuration that has it off: its events are counted all the same, since alerts are
// about them.
func NewCounting() *Trail { return &Trail{counts: eventCounters()} }

func newTrail(log *zap.Logger, events *eventqueue.Queue) *Trail {
	node, _ := os.Hostname() // a node without a name has an empty one
	return &Trail{
		log: log.Named("audit"), events: events, now: time.Now, node: node,
		counts: eventCounters(),
	}
}

func eventCounters() map[audit.Name]metrics.Counter {
	return metrics.ByName(audit.Names, metrics.Set{}.Audit)
}

// Start emits the Caddy events while the configuration runs.
func (t *Trail) Start() { t.events.Start() }

func eventName(name audit.Name) string { return "gatehouse_" + string(name) }

// Record implements [audit.Sink].
func (t *Trail) Record(ctx context.Context, e audit.Event) {
	if c := t.counts[e.Name]; c != nil {
		c.Inc()
	}
	if t.log == nil {
		return
	}
	line := t.log.Check(zap.InfoLevel, string(e.Name))
	wanted := t.events.Wanted()
	if line == nil && !wanted {
		return
	}
	fields := t.fields(ctx, e)
	if line != nil {
		line.Write(fields...)
	}
	if wanted {
		data := make(map[string]any, len(fields))
		for _, f := range fields {
			data[f.Key] = f.String
		}
		if scopes := readable(e.Scopes); scopes != nil {
			data["scopes"] = scopes
		}
		t.events.Put(t.ctx, eventName(e.Name), data)
	}
}

// fields are the fields of a line, in order; empty ones are left out.
func (t *Trail) fields(ctx context.Context, e audit.Event) []zap.Field {
	from, _ := ctx.Value(factsKey{}).(facts) // none outside of a request
	fields := make([]zap.Field, 0, 13)
	add := func(name, value string) {
		if value = oneLine(value); value != "" {
			fields = append(fields, zap.String(name, value))
		}
	}
	add("time", t.now().UTC().Format("2006-01-02T15:04:05.000Z07:00"))
	add("event", string(e.Name))
	add("client", e.Client)
	add("subject", e.Subject)
	add("user", e.User)
	add("grant", e.Grant)
	if scopes := readable(e.Scopes); scopes != nil {
		fields = append(fields, zap.Strings("scopes", scopes))
	}
	add("key", e.Key)
	add("job", e.Job)
	add("reason", e.Reason)
	add("ip", from.ip)
	add("request_id", from.id)
	return append(fields, zap.String("node", t.node))
}

// readable returns the scopes for the log, nil for none.
func readable(scopes []string) []string {
	var said []string
	for _, s := range scopes[:min(len(scopes), maxAuditScopes)] {
		said = append(said, oneLine(s))
	}
	return said
}

// oneLine makes a value safe for any encoder and terminal: it replaces control and formatting
// characters (line separators, changes of the writing direction) and invalid UTF-8, and limits
// the length.
func oneLine(s string) string {
	cut := len(s) > maxAuditField
	if cut {
		end := maxAuditField
		for end > maxAuditField-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, s)
	if cut {
		s += "…"
	}
	return s
}

// facts are what the trail records about a request. They are read when it begins: events may be
// recorded on goroutines that outlive it, and Caddy's variables are an unsynchronized map.
type facts struct{ ip, id string }

type factsKey struct{}

// WithFacts gives a request's context the address and id of the request, by which Record finds
// them. Nothing happens where no line is written and no event emitted: an id is made for each
// request that asks for one.
func (t *Trail) WithFacts(r *http.Request) *http.Request {
	if t.log == nil || !t.events.Wanted() && !t.log.Core().Enabled(zap.InfoLevel) {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), factsKey{}, facts{handler.ClientIP(r), handler.RequestID(r)}))
}

// Interface guards
var _ audit.Sink = (*Trail)(nil)
