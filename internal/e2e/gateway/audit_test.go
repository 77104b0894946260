package gateway

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// keep is an event handler that remembers what it got.
type keep struct{}

var kept struct {
	sync.Mutex
	events []caddy.Event
}

func init() { caddy.RegisterModule(keep{}) }

func (keep) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.test_keep", New: func() caddy.Module { return new(keep) }}
}

func (keep) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { d.Next(); return nil }

func (keep) Handle(_ context.Context, e caddy.Event) error {
	kept.Lock()
	defer kept.Unlock()
	kept.events = append(kept.events, e)
	return nil
}

// audited is the site with the audit trail in a file.
func audited(t *testing.T, more ...string) *harness.Gateway {
	t.Helper()
	text := strings.Replace(site, "\tlog {\n\t\toutput discard\n\t}\n", `	log {
		output discard
	}
	log audit {
		output file $DIR/audit.log
		include gatehouse.audit
	}
	$EVENTS
`, 1)
	g, _ := startSite(t, text, append(more, "$EVENTS", "")...)
	return g
}

// trailOf waits for the first line with an event.
func trailOf(t *testing.T, g *harness.Gateway, event string) map[string]any {
	t.Helper()
	var all []map[string]any
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		all = lines(t, g, "audit.log", 1)
		for _, l := range all {
			if l["event"] == event {
				return l
			}
		}
	}
	t.Fatalf("no %s in %v", event, all)
	return nil
}

func TestO05AuditTrailSaysWhoDidWhatFromWhere(t *testing.T) {
	g := audited(t)
	b := harness.NewBrowser(t, g.ID)
	b.Submit(b.Get(authorizeURL(g, "web")), map[string][]string{"username": {"alice\u202eforged"}, "password": {"wrong"}})
	c := b.Authorize(authorizeURL(g, "web"), username, password).Query().Get("code")
	g.Token(t, web, exchange(c, callback))
	g.Token(t, web, exchange(c, callback)) // again
	g.Token(t, harness.Credentials{ID: "web", Secret: "wrong"}, exchange(c, callback))
	host, _ := os.Hostname()
	for event, want := range map[string]map[string]any{
		"config_changed": {},
		"sign_in_failed": {"reason": "refused"},
		"sign_in":        {"subject": "u-1", "client": "web"},
		"consent":        {"subject": "u-1", "client": "web", "scopes": "read"},
		"issue":          {"subject": "u-1", "client": "web", "scopes": "read", "reason": "authorization_code"},
		"code_reuse":     {"subject": "u-1", "client": "web"},
		"client_auth":    {"client": "web"},
	} {
		l := trailOf(t, g, event)
		for name, value := range want {
			if field(l, name) != value {
				t.Errorf("%s: %s is %v, want %v", event, name, l[name], value)
			}
		}
		if l["logger"] != "gatehouse.audit" || l["level"] != "info" || l["node"] != host {
			t.Errorf("%s: %v", event, l)
		}
		if when, err := time.Parse(time.RFC3339, l["time"].(string)); err != nil || time.Since(when) > time.Minute {
			t.Errorf("%s: time %v", event, l["time"])
		}
		id, _ := l["request_id"].(string)
		if event != "config_changed" && (l["ip"] != "127.0.0.1" || !regexp.MustCompile(`^[0-9a-f-]{36}$`).MatchString(id)) {
			t.Errorf("%s: from %v in request %v", event, l["ip"], l["request_id"])
		}
	}
	raw, err := os.ReadFile(filepath.Join(g.Dir, "audit.log"))
	if err != nil || strings.Contains(string(raw), c) || strings.Contains(string(raw), password) {
		t.Errorf("a credential is in the trail: %v", err)
	}
}

func TestAuditEventsAreCaddyEvents(t *testing.T) {
	g := audited(t, "$EVENTS", "events {\n\t\ton gatehouse_sign_in test_keep\n\t\ton gatehouse_config_changed test_keep\n\t}")
	harness.NewBrowser(t, g.ID).Authorize(authorizeURL(g, "web"), username, password)
	got := make(map[string]caddy.Event)
	for deadline := time.Now().Add(5 * time.Second); len(got) < 2 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		kept.Lock()
		for _, e := range kept.events {
			got[e.Name()] = e
		}
		kept.Unlock()
	}
	e, ok := got["gatehouse_sign_in"]
	if !ok || e.Origin().CaddyModule().ID != "gatehouse" || e.Data["subject"] != "u-1" || e.Data["ip"] != "127.0.0.1" {
		t.Errorf("%+v", got)
	}
	if _, ok := got["gatehouse_config_changed"]; !ok {
		t.Errorf("the start came too early for its own event: %v", got)
	}
}

func TestAuditTrailCanBeOffAndNeedsNoEventsApp(t *testing.T) {
	g := audited(t, "$GLOBAL", "audit off")
	before := g.Metric(t, `caddy_gatehouse_audit_events_total{event="sign_in"}`)
	harness.NewBrowser(t, g.ID).Authorize(authorizeURL(g, "web"), username, password)
	if raw, err := os.ReadFile(filepath.Join(g.Dir, "audit.log")); err == nil && len(raw) > 0 {
		t.Errorf("%s", raw)
	}
	if g.Metric(t, `caddy_gatehouse_audit_events_total{event="sign_in"}`) != before+1 {
		t.Error("no alert can tell of what is not counted")
	}
	if status, body := harness.Get(t, g.Admin+"/config/apps/"); status != http.StatusOK || strings.Contains(body, `"events"`) {
		t.Errorf("%d %s", status, body)
	}
}
