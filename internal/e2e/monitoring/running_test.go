package monitoring

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// One gateway and one Prometheus serve all of this: the first half sees a healthy gateway, the
// second what its alerts are for.
func TestPrometheusScrapesAGateway(t *testing.T) {
	g := start(t)
	p := startPrometheus(t, g.scrape)
	refresh, access := g.signIn(t), g.token(t)
	traffic := func() {
		g.token(t)
		for range 5 {
			g.Call(t, http.MethodGet, "/read", access)
			g.Call(t, http.MethodGet, "/articles", access)
		}
	}
	traffic()
	eventually(t, "the first scrapes", func() string {
		traffic()
		if v, err := p.query(`count_over_time(up{job="gatehouse"}[1m]) > 2`); err != nil || len(v) != 1 {
			return fmt.Sprint(v, err)
		}
		return ""
	})
	t.Run("the page lists what a gateway has", func(t *testing.T) { comparePage(t, g) })
	t.Run("every query of the dashboard finds something", func(t *testing.T) {
		for title, queries := range dashboardQueries(t) {
			for _, q := range queries {
				eventually(t, title, func() string {
					v, err := p.query(q)
					if err == nil && len(v) > 0 {
						return ""
					}
					traffic()
					return fmt.Sprint(q, " found ", v, err)
				})
			}
		}
	})
	t.Run("the variables of the dashboard have values", func(t *testing.T) {
		for _, label := range []string{"job", "instance"} {
			var values []string
			harness.FailOn(t, p.get("label/"+label+"/values?match[]=caddy_gatehouse_build_info", &values))
			if len(values) != 1 {
				t.Errorf("%s: %q", label, values)
			}
		}
	})
	t.Run("every series of an alert is there", func(t *testing.T) {
		for _, r := range rules(t, "recording.yaml", "alerts.yaml") {
			eventually(t, r.Alert+r.Record, func() (missing string) {
				traffic()
				for _, selector := range everySelector(r.Expr) {
					if v, err := p.query(selector); err != nil || len(v) == 0 {
						missing += fmt.Sprint(selector, " ", err, " ")
					}
				}
				if _, err := p.query(r.Expr); err != nil {
					missing += err.Error()
				}
				return missing
			})
		}
	})

	for _, quiet := range []string{"GatehouseTokenReplayed", "GatehouseLimitSpent"} {
		if p.firing(t)[quiet] {
			t.Errorf("%s fires before anything happened", quiet)
		}
	}
	t.Run("a refresh token is replayed", func(t *testing.T) {
		if first, replayed := g.refresh(t, refresh), g.refresh(t, refresh); first != http.StatusOK || replayed != http.StatusBadRequest {
			t.Fatalf("%d, then %d", first, replayed)
		}
		p.awaitAlerts(t, "GatehouseTokenReplayed")
	})
	t.Run("a limit is spent", func(t *testing.T) {
		for range 20 {
			harness.Send(t, http.DefaultClient, http.MethodGet, g.API+"/read", "", "Authorization", "Bearer "+access, "X-Tight", "x")
		}
		p.awaitAlerts(t, "GatehouseLimitSpent")
	})
	t.Run("the store is full", func(t *testing.T) {
		fail := g.signInFails(t)
		g.redis.CLI("config", "set", "maxmemory", "1")
		fail()
		p.awaitAlertsWhile(t, fail, "GatehouseSignInErrors", "GatehouseErrors", "GatehouseStoreDegraded")
		g.redis.CLI("config", "set", "maxmemory", "0")
	})
	t.Run("the store is killed", func(t *testing.T) {
		g.Load(t, limitedBy("redis"))
		g.Call(t, http.MethodGet, "/read", access)
		fail := g.signInFails(t)
		g.redis.Kill()
		for range 5 {
			fail()
			if status := g.Token(t, web, map[string][]string{"grant_type": {"refresh_token"}, "refresh_token": {refresh}}).Status; status != http.StatusServiceUnavailable {
				t.Errorf("%d without a store", status)
			}
			g.Call(t, http.MethodGet, "/read", access)
		}
		p.awaitAlerts(t, "GatehouseStoreDown", "GatehouseNotReady", "GatehouseLimiterDown", "GatehouseRevocationsStale", "GatehouseStoreErrors", "GatehouseTokenErrors")
	})
}

func (p *prometheus) awaitAlerts(t *testing.T, names ...string) {
	t.Helper()
	p.awaitAlertsWhile(t, func() {}, names...)
}

// awaitAlertsWhile calls again and again what makes the alerts fire.
func (p *prometheus) awaitAlertsWhile(t *testing.T, again func(), names ...string) {
	t.Helper()
	fired := map[string]bool{} // what some look at is over before others begin
	eventually(t, "alerts that do not fire", func() (missing string) {
		again()
		maps.Copy(fired, p.firing(t))
		for _, name := range names {
			if !fired[name] {
				missing += name + " "
			}
		}
		return missing
	})
}

var (
	// selectors are series in an expression, with their matchers.
	selectors = regexp.MustCompile(`\b(?:caddy_gatehouse_\w+|job:\w+:\w+|up)\b(?:\{[^}]*\})?`)
	// alternatives are the values of a matcher, if there are several.
	alternatives = regexp.MustCompile(`=~"([^"]*)"`)
)

// everySelector returns the selectors in an expression, one for each alternative of a matcher.
func everySelector(expr string) (all []string) {
	for _, s := range selectors.FindAllString(expr, -1) {
		several := alternatives.FindStringSubmatch(s)
		if several == nil {
			all = append(all, s)
			continue
		}
		for _, one := range strings.Split(several[1], "|") {
			all = append(all, strings.Replace(s, several[0], `="`+one+`"`, 1))
		}
	}
	return all
}

type rule struct{ Alert, Record, Expr string }

func rules(t *testing.T, files ...string) (all []rule) {
	t.Helper()
	for _, file := range files {
		var parsed struct{ Groups []struct{ Rules []rule } }
		harness.FailOn(t, yaml.Unmarshal([]byte(hurried(read(t, "prometheus/"+file))), &parsed))
		for _, g := range parsed.Groups {
			all = append(all, g.Rules...)
		}
	}
	if len(all) < 20 {
		t.Fatalf("only %d rules", len(all))
	}
	return all
}

// dashboardQueries are the queries by the title of their panel, with the variables filled in.
func dashboardQueries(t *testing.T) map[string][]string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Type, Title string
			Targets     []struct{ Expr string }
		}
	}
	harness.FailOn(t, json.Unmarshal([]byte(read(t, "grafana/gatehouse.json")), &dashboard))
	variables := strings.NewReplacer("$__rate_interval", "1m", "$job", ".+", "$instance", ".+")
	queries := map[string][]string{}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			q := variables.Replace(target.Expr)
			if strings.Contains(q, "$") {
				t.Errorf("%s: a variable is unknown: %s", panel.Title, q)
			}
			queries[panel.Title] = append(queries[panel.Title], q)
		}
		if panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("%s shows nothing", panel.Title)
		}
	}
	if len(queries) < 20 {
		t.Fatalf("only %d panels", len(queries))
	}
	return queries
}

// comparePage compares the metrics of the gateway with the page about them.
func comparePage(t *testing.T, g *gateway) {
	_, table, _ := strings.Cut(read(t, "monitoring.md"), "## Metrics")
	table, _, _ = strings.Cut(table, "### Renamed metrics")
	code := regexp.MustCompile("`([^`]+)`")
	documented := map[string]string{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) >= 6 && strings.Contains(cells[1], "`") {
			for _, name := range code.FindAllStringSubmatch(cells[1], -1) {
				documented["caddy_gatehouse_"+name[1]] = strings.TrimSpace(cells[2]) + " " + labels(code, cells[3])
			}
		}
	}
	kind, found := regexp.MustCompile(`^# TYPE (caddy_gatehouse_\w+) (\w+)`), map[string]string{}
	series, label := regexp.MustCompile(`^(caddy_gatehouse_\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? \S+$`), regexp.MustCompile(`(\w+)="`)
	sum := regexp.MustCompile(`,?le="[^"]*"`)
	kinds := map[string]string{}
	_, text := harness.Get(t, "http://"+g.scrape+"/metrics")
	for line := range strings.Lines(text) {
		if m := kind.FindStringSubmatch(line); m != nil {
			kinds[m[1]] = m[2]
		} else if m := series.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			found[m[1]] = kinds[m[1]] + " " + labels(label, sum.ReplaceAllString(m[2], ""))
		}
	}
	for name, d := range documented { // in one order
		documented[name] = sorted(d)
	}
	for name, d := range found {
		found[name] = sorted(d)
	}
	if diff := cmp.Diff(found, documented); diff != "" {
		t.Error("- a running gateway, + the page:\n" + diff)
	}
}

func labels(pattern *regexp.Regexp, text string) string {
	var all []string
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return strings.Join(all, " ")
}
