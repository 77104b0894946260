package metrics

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestCountersOutliveARegistryAndSurviveASecondRegistration(t *testing.T) {
	var set Set
	for range 3 { // three configurations, each with a registry of its own
		reg := prometheus.NewPedanticRegistry()
		for range 2 { // two handlers in each
			if err := Register(reg); err != nil {
				t.Fatal(err)
			}
		}
		set.SignIn("ok")
		if _, err := reg.Gather(); err != nil {
			t.Fatal(err)
		}
	}
	if got := testutil.ToFloat64(signIns.WithLabelValues("ok")); got != 3 {
		t.Errorf("sign-ins after three configurations: %v, want 3", got)
	}
}

func TestMetricsFollowTheNamingConventions(t *testing.T) {
	var set Set
	set.TokenRequest("authorization_code", "issued")
	set.StoreOperation("get", "ok", 0)
	set.LimiterFull()
	set.Revocation("revoked")
	set.Introspection("inactive")
	set.DeprecatedGrant("password")
	reg := prometheus.NewPedanticRegistry()
	if err := Register(reg); err != nil {
		t.Fatal(err)
	}
	problems, err := testutil.GatherAndLint(reg)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

func TestThePageAboutRunningNamesEveryMetric(t *testing.T) {
	page, err := os.ReadFile("../../deploy/README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("set.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`= (?:counter|histogram)\("(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(names) < 10 {
		t.Fatalf("only %d metrics", len(names))
	}
	for _, n := range names {
		if !strings.Contains(string(page), "`"+n[1]+"`") {
			t.Errorf("%s is missing", n[1])
		}
	}
}
