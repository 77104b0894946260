package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

const nameWidth = 50

// table prints everything for people.
func (r *report) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s\n%d rotations of slices of %s; CPU in microseconds a request, medians; ratio: geometric mean, lowest to highest\n",
		r.Date.Format(time.DateTime), r.Machine, r.Rotation, r.Slice)
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "\n%s\n%s %7s %6s %6s %8s %8s %8s %5s  %s\n", g.Title, pad(""), "CPU", "Redis", "API", "req/s", "p50 us", "p99 us", "MiB", "ratio")
		for _, row := range g.Rows {
			fmt.Fprintf(&b, "%s %7.1f %6.1f %6.1f %8.0f %8.0f %8.0f %5.0f", pad(row.Name), row.CPU, row.RedisCPU, row.UpstreamCPU, row.Rate, row.P50, row.P99, row.Resident)
			if row.Ratio > 0 {
				fmt.Fprintf(&b, "  %.3f (%.2f to %.2f)", row.Ratio, row.Low, row.High)
			}
			if row.Refused > 0 {
				fmt.Fprintf(&b, "  %.1f %% were 503", row.Refused)
			}
			b.WriteString("\n")
		}
	}
	if len(r.Bounds) > 0 {
		b.WriteString("\n")
	}
	for _, one := range r.Bounds {
		b.WriteString(one.String() + "\n")
	}
	for _, line := range r.LeftOut {
		b.WriteString("left out: " + line + "\n")
	}
	return b.String()
}

func pad(name string) string {
	return name + strings.Repeat(" ", max(0, nameWidth-utf8.RuneCountInString(name)))
}
