package soak

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// The benchmark in a short form, with every kind of request. The ratios that are accepted are
// about twice what is measured: a busy machine must not fail, a handler that doubles its cost
// must.
func TestBenchmarkRatiosStayWithinBounds(t *testing.T) {
	most := map[string]float64{
		"errors, guard, 2 limits, api_proxy": 1.3, "refused: 429, limits in Redis": 0, "errors, guard, 2 limits, api_rest: translated": 0,
		"errors, guard, 2 limits, api_proxy, HTTP/2": 0, "errors, guard, 2 limits, api_proxy, half load": 0, "/token": 3.5, "1,000 rules": 2,
	}
	out := t.TempDir()
	cmd := exec.Command(harness.Command(t, "github.com/gatehouse/gatehouse/deploy/bench"), "-caddy", harness.Program(t), "-out", out, "-port", strconv.Itoa(consecutivePorts(t, 40)),
		"-rotations", "3", "-slice", "250ms", "-only", `2 limits, api_proxy|refused: 429|translated|^/token$|1,000 rules`)
	var progress strings.Builder
	cmd.Stderr = &progress
	table, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, progress.String())
	}
	t.Log("\n" + string(table))
	raw, err := os.ReadFile(filepath.Join(out, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var results struct {
		Groups []struct {
			Rows []struct {
				Name     string
				CPU      float64 `json:"cpu_us"`
				Rate     float64 `json:"requests_per_second"`
				P99      float64 `json:"p99_us"`
				Resident float64 `json:"rss_mib"`
				Ratio    float64
				Low      float64 `json:"ratio_low"`
				High     float64 `json:"ratio_high"`
			}
		}
	}
	if err := json.Unmarshal(raw, &results); err != nil {
		t.Fatal(err)
	}
	for _, g := range results.Groups {
		for i, row := range g.Rows {
			if row.CPU <= 0 || row.Rate <= 0 || row.P99 <= 0 || row.Resident <= 0 || i > 0 && (row.Ratio <= 0 || row.Low > row.Ratio || row.High < row.Ratio) {
				t.Errorf("%+v", row)
			}
			bound, expected := most[row.Name]
			delete(most, row.Name)
			if i > 0 && !expected {
				t.Errorf("%s was not asked for", row.Name)
			}
			if bound > 0 && row.Ratio > bound {
				t.Errorf("%s costs %.2f times its base, at most %.2f are accepted", row.Name, row.Ratio, bound)
			}
		}
	}
	if len(most) > 0 {
		t.Error("not measured:", most)
	}
	if svg, err := os.ReadFile(filepath.Join(out, "chart.svg")); err != nil || !strings.Contains(string(svg), "1,000 rules") {
		t.Errorf("the chart: %s, %v", svg, err)
	}
}

// consecutivePorts returns the first of n free ports.
func consecutivePorts(t *testing.T, n int) int {
	t.Helper()
	for range 3 { // where those of this process begin again, they are not consecutive
		if ports := harness.FreePorts(t, n); ports[n-1] == ports[0]+n-1 {
			return ports[0]
		}
	}
	t.Fatalf("no %d free ports in a row", n)
	return 0
}
