package monitoring

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// sorted brings the words behind the first into order.
func sorted(text string) string {
	words := strings.Fields(text)
	slices.Sort(words[1:])
	return strings.Join(words, " ")
}

func promtool(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("promtool", args...)
	cmd.Dir = filepath.Join(deploy, "prometheus")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %v: %v\n%s", args, err, out)
	}
}

func TestPromtoolAcceptsConfigAndRules(t *testing.T) {
	promtool(t, "check", "config", "prometheus.yaml")
	promtool(t, "check", "config", "compose.yaml")
	promtool(t, "check", "rules", "alerts.yaml", "recording.yaml")
	promtool(t, "test", "rules", "alerts_test.yaml")
}

// Each alert has a test of promtool in which it fires, and a row on the page.
func TestEveryAlertIsTestedAndDocumented(t *testing.T) {
	var tests struct {
		Tests []struct {
			AlertRuleTest []struct {
				Alertname string
				ExpAlerts []any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	harness.FailOn(t, yaml.Unmarshal([]byte(read(t, "prometheus/alerts_test.yaml")), &tests))
	fires := map[string]bool{}
	for _, test := range tests.Tests {
		for _, a := range test.AlertRuleTest {
			fires[a.Alertname] = fires[a.Alertname] || len(a.ExpAlerts) > 0
		}
	}
	page := read(t, "monitoring.md")
	for _, r := range rules(t, "alerts.yaml") {
		if !fires[r.Alert] {
			t.Errorf("no test has %s fire", r.Alert)
		}
		if !strings.Contains(page, "| `"+r.Alert+"` |") {
			t.Errorf("monitoring.md does not list %s", r.Alert)
		}
	}
	for line := range strings.Lines(page) {
		if name, ok := strings.CutPrefix(line, "| `Gatehouse"); ok && !fires["Gatehouse"+name[:strings.Index(name, "`")]] {
			t.Errorf("there is no alert Gatehouse%s", name[:strings.Index(name, "`")])
		}
	}
}

func TestDashboardIsValidForGrafana(t *testing.T) {
	harness.Node(t, time.Minute, "dashboard.js ../../deploy/grafana/gatehouse.json", nil, nil)
}
