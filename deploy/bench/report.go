package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/deploy/bench/internal/chart"
	"github.com/gatehouse/gatehouse/deploy/bench/internal/ratio"
)

// report is what results.json has.
type report struct {
	Date     time.Time         `json:"date"`
	Command  string            `json:"command"`
	Machine  string            `json:"machine"`
	Programs map[string]string `json:"programs"`
	Slice    string            `json:"slice"`
	Rotation int               `json:"rotations"`
	Groups   []groupReport     `json:"groups"`
	Bounds   []boundReport     `json:"bounds"`
	LeftOut  []string          `json:"left_out,omitempty"`
}

type groupReport struct {
	Title string      `json:"title"`
	Rows  []rowReport `json:"rows"` // the base comes first
}

// rowReport has the medians of a row's slices, and the ratio to the base beside them.
type rowReport struct {
	Name        string  `json:"name"`
	Peer        bool    `json:"peer,omitempty"`
	CPU         float64 `json:"cpu_us"`
	RedisCPU    float64 `json:"redis_cpu_us,omitempty"`
	UpstreamCPU float64 `json:"upstream_cpu_us"`
	Rate        float64 `json:"requests_per_second"`
	P50         float64 `json:"p50_us"`
	P99         float64 `json:"p99_us"`
	Resident    float64 `json:"rss_mib"`
	// Refused is the percentage of 503, the mean of all slices: a gateway that has more
	// to do than its share of a busy machine refuses some requests.
	Refused float64 `json:"refused_percent,omitempty"`
	// Ratio is a geometric mean, Low and High the least and the greatest of the rotations; all
	// are 0 for the base.
	Ratio float64 `json:"ratio,omitempty"`
	Low   float64 `json:"ratio_low,omitempty"`
	High  float64 `json:"ratio_high,omitempty"`
	Bound float64 `json:"bound,omitempty"`
	Aim   float64 `json:"aim,omitempty"`
}

// report puts together what was measured.
func (b *bench) report(groups []*group, leftOut []string) *report {
	r := &report{
		Date: time.Now().UTC().Truncate(time.Second), Machine: machine(), Programs: b.versions(), Slice: b.options.slice.String(), Rotation: b.options.rotations, LeftOut: leftOut,
	}
	for _, g := range groups {
		gr := groupReport{Title: g.title, Rows: []rowReport{reportRow(g.base)}}
		for i, row := range g.rows {
			one := reportRow(row)
			sum := ratio.Summarize(g.ratios(i))
			one.Ratio, one.Low, one.High = sum.Mean, sum.Low, sum.High
			gr.Rows = append(gr.Rows, one)
		}
		r.Groups = append(r.Groups, gr)
	}
	r.Bounds = bounds(groups)
	return r
}

// ratios are those of a row in all rotations.
func (g *group) ratios(row int) (all []float64) {
	for _, p := range g.pairs(row) {
		all = append(all, p.Ratio())
	}
	return all
}

// pairs are what a row had and the base beside it, in all rotations.
func (g *group) pairs(row int) (all []ratio.Pair) {
	for _, turn := range g.rotation {
		all = append(all, ratio.Beside(turn.schedule, turn.values, row)...)
	}
	return all
}

func reportRow(r *row) rowReport {
	median := func(of func(slice) float64) float64 {
		var values []float64
		for _, s := range r.slices {
			values = append(values, of(s))
		}
		return ratio.Median(values)
	}
	refused := 0.0
	for _, s := range r.slices {
		refused += s.refused / float64(len(r.slices))
	}
	return rowReport{
		Refused: refused,
		Name:    r.name, Peer: r.peer, Bound: r.bound, Aim: r.aim,
		CPU: median(func(s slice) float64 { return s.cpu }), RedisCPU: median(func(s slice) float64 { return s.redisCPU }),
		UpstreamCPU: median(func(s slice) float64 { return s.upstreamCPU }), Rate: median(func(s slice) float64 { return s.rate }),
		P50:      median(func(s slice) float64 { return float64(s.p50.Nanoseconds()) / 1000 }),
		P99:      median(func(s slice) float64 { return float64(s.p99.Nanoseconds()) / 1000 }),
		Resident: median(func(s slice) float64 { return float64(s.resident) / (1 << 20) }),
	}
}

// write writes results.json, results.md and chart.svg.
func (r *report) write(dir string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "results.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "results.md"), []byte(r.markdown()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "chart.svg"), []byte(r.chart().SVG()), 0o644)
}

// chart shows the ratios.
func (r *report) chart() chart.Chart {
	c := chart.Chart{
		Title:    "CPU time of a request, bare Caddy's reverse_proxy = 1",
		Subtitle: fmt.Sprintf("%s, %s; geometric mean of %d rotations, line: lowest to highest, mark: bound", r.Date.Format(time.DateOnly), r.Machine, r.Rotation),
	}
	for _, g := range r.Groups {
		one := chart.Group{Title: g.Title}
		for _, row := range g.Rows[1:] {
			one.Bars = append(one.Bars, chart.Bar{Name: row.Name, Value: row.Ratio, Low: row.Low, High: row.High, Bound: row.Bound, Muted: row.Peer})
		}
		c.Groups = append(c.Groups, one)
	}
	return c
}

var modelName = regexp.MustCompile(`(?m)^model name\s*: (.*)$`)

// machine describes the processors and the system.
func machine() string {
	model := runtime.GOARCH
	if raw, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := modelName.FindSubmatch(raw); m != nil {
			model = string(m[1])
		}
	}
	return fmt.Sprintf("%d cores of %s", runtime.NumCPU(), model)
}

// versions asks the programs.
func (b *bench) versions() map[string]string {
	all := map[string]string{"go": runtime.Version()}
	for name, args := range map[string][]string{
		"caddy": {b.bareProgram, "version"}, "nginx": {"nginx", "-v"}, "redis": {"redis-server", "--version"}, "haproxy": {"haproxy", "-v"},
	} {
		program := args[0]
		if path, err := findProgram(program); err == nil {
			program = path
		}
		if out, err := exec.Command(program, args[1:]...).CombinedOutput(); err == nil {
			first, _, _ := strings.Cut(string(out), "\n")
			all[name] = strings.TrimSpace(first)
		}
	}
	return all
}
