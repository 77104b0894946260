package main

import (
	"fmt"
	"strings"
	"time"
)

// markdown prints what README.md shows.
func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %s, %d rotations of slices of %s. CPU is microseconds a request, of the gateway and, after a plus sign, of Redis; latency is in milliseconds, "+
		"memory in MiB. The ratio is the geometric mean, with the lowest and highest in parentheses.\n", r.Date.Format(time.DateOnly), r.Machine, r.Programs["go"], r.Rotation, r.Slice)
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "\n| %s | CPU | requests/s | p50 | p99 | memory | ratio |\n|---|---|---|---|---|---|---|\n", g.Title)
		for _, row := range g.Rows {
			cpu, times := fmt.Sprintf("%.0f", row.CPU), "1"
			if row.RedisCPU > 0 {
				cpu += fmt.Sprintf(" + %.0f", row.RedisCPU)
			}
			if row.Ratio > 0 {
				times = fmt.Sprintf("**%.2f** (%.2f to %.2f)", row.Ratio, row.Low, row.High)
			}
			fmt.Fprintf(&b, "| %s | %s | %.0f | %.1f | %.1f | %.0f | %s |\n", row.Name, cpu, row.Rate, row.P50/1000, row.P99/1000, row.Resident, times)
		}
	}
	if len(r.Bounds) > 0 {
		b.WriteString("\n| bound | measured | at most | aim | |\n|---|---|---|---|---|\n")
	}
	for _, one := range r.Bounds {
		aim, verdict, unit := "", "met", ""
		if one.Aim > 0 {
			aim = fmt.Sprintf("%.2f", one.Aim)
		}
		if !one.Met {
			verdict = "**missed**"
		}
		if one.Unit != ratioUnit {
			unit = " " + one.Unit
		}
		fmt.Fprintf(&b, "| %s | %.2f%s | %.2f%s | %s | %s |\n", one.Name, one.Measured, unit, one.Bound, unit, aim, verdict)
	}
	for _, line := range r.LeftOut {
		fmt.Fprintf(&b, "\nLeft out: %s\n", line)
	}
	return b.String()
}
