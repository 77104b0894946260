package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/deploy/bench/internal/ratio"
)

func exampleReport(t *testing.T) *report {
	t.Helper()
	base := &row{name: "bare", gateway: &gateway{name: "bare"}}
	subject := &row{name: "api_proxy", gateway: &gateway{name: "api_proxy"}, bound: 0.6, aim: 0.5}
	g := &group{title: "Documents", base: base, rows: []*row{subject}}
	for _, cpu := range []float64{100, 300, 200} {
		half := slice{cpu: cpu * 0.4, redisCPU: cpu * 0.1, upstreamCPU: 20, rate: 1000, p50: time.Millisecond, p99: 5 * time.Millisecond, resident: 64 << 20}
		base.slices, subject.slices = append(base.slices, slice{cpu: cpu, resident: 32 << 20}), append(subject.slices, half)
		g.rotation = append(g.rotation, rotation{schedule: []int{ratio.Base, 0, ratio.Base}, values: []float64{cpu, g.value(half), cpu}})
	}
	b := &bench{options: options{rotations: 3, slice: time.Second}, bareProgram: "/nonexistent"}
	return b.report([]*group{g}, []string{"HAProxy: haproxy is not installed"})
}

func TestReportHasMediansAndMeanRatio(t *testing.T) {
	r := exampleReport(t)
	got := r.Groups[0].Rows[1]
	want := rowReport{Name: "api_proxy", CPU: 80, RedisCPU: 20, UpstreamCPU: 20, Rate: 1000, P50: 1000, P99: 5000, Resident: 64, Ratio: 0.5, Low: 0.5, High: 0.5, Bound: 0.6, Aim: 0.5}
	got.Ratio, got.Low, got.High = round(got.Ratio), round(got.Low), round(got.High)
	if got != want {
		t.Errorf("%+v", got)
	}
	if base := r.Groups[0].Rows[0]; base.CPU != 200 || base.Ratio != 0 {
		t.Errorf("%+v", base)
	}
}

func round(v float64) float64 { return float64(int(v*1e6+0.5)) / 1e6 }

func TestTableShowsBoundsAndOmissions(t *testing.T) {
	table := exampleReport(t).table()
	for _, want := range []string{"Documents\n", "80.0   20.0   20.0     1000     1000     5000    64  0.500 (0.50 to 0.50)", "bound 0.60, aim 0.50: met", "left out: HAProxy: haproxy is not installed"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}

func TestMarkdownReportHasTheSameValues(t *testing.T) {
	text := exampleReport(t).markdown()
	for _, want := range []string{"| Documents | CPU |", "| bare | 200 | 0 | 0.0 | 0.0 | 32 | 1 |", "| api_proxy | 80 + 20 | 1000 | 1.0 | 5.0 | 64 | **0.50** (0.50 to 0.50) |",
		"| api_proxy | 0.50 | 0.60 | 0.50 | met |", "Left out: HAProxy: haproxy is not installed"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestReportIsWritten(t *testing.T) {
	dir := t.TempDir()
	if err := exampleReport(t).write(dir); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var back report
	if err := json.Unmarshal(raw, &back); err != nil || back.Groups[0].Rows[1].CPU != 80 || len(back.Bounds) != 1 {
		t.Errorf("%s, %v", raw, err)
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "chart.svg")); err != nil || !strings.Contains(string(svg), ">api_proxy<") {
		t.Errorf("%s, %v", svg, err)
	}
}

func TestForgedTokenDiffersInItsSignature(t *testing.T) {
	token := "aaa.bbb." + strings.Repeat("A", 86)
	for _, one := range []string{token, strings.ReplaceAll(token, "A", "C")} {
		forged := forge([]string{one})[0]
		if forged == one || len(forged) != len(one) || forged[:8] != one[:8] {
			t.Errorf("%s is forged as %s", one, forged)
		}
	}
}

func TestLatencyIsComparedAtHalfLoad(t *testing.T) {
	s := slice{cpu: 10, redisCPU: 5, p99: 2 * time.Second}
	if got := new(group).value(s); got != 15 {
		t.Error(got)
	}
	if got := (&group{halfLoad: true}).value(s); got != 2 {
		t.Error(got)
	}
}
