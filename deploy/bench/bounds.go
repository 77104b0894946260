package main

import (
	"fmt"

	"github.com/gatehouse/gatehouse/deploy/bench/internal/ratio"
)

// boundReport says whether a bound was met.
type boundReport struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Measured float64 `json:"measured"`
	Bound    float64 `json:"bound"`
	Aim      float64 `json:"aim,omitempty"`
	Met      bool    `json:"met"`
}

func (r boundReport) String() string {
	verdict := "met"
	if !r.Met {
		verdict = "MISSED"
	}
	aim := ""
	if r.Aim > 0 {
		aim = fmt.Sprintf(", aim %.2f", r.Aim)
	}
	return fmt.Sprintf("%-62s %8.2f %-8s bound %.2f%s: %s", r.Name, r.Measured, r.Unit, r.Bound, aim, verdict)
}

// ratioUnit is the unit of bounds that are ratios.
const ratioUnit = "x base"

const (
	// mostMemory is how much more memory than bare Caddy 100,000 verified tokens may take, in MiB.
	mostMemory = 256
	// mostForCold is the most CPU time, in microseconds, that a token costs which has not been
	// seen before, beyond one verification.
	mostForCold = 10
)

// bounds compares what was measured with what is expected.
func bounds(groups []*group) (all []boundReport) {
	var bare *row
	for _, g := range groups {
		if g.base.gateway.name == "bare" && bare == nil {
			bare = g.base
		}
		for i, r := range g.rows {
			if r.bound > 0 {
				measured := ratio.Summarize(g.ratios(i)).Mean
				all = append(all, boundReport{r.name, ratioUnit, measured, r.bound, r.aim, measured <= r.bound})
			}
			switch r.name {
			case manyTokens:
				if bare != nil {
					more := reportRow(r).Resident - reportRow(bare).Resident
					all = append(all, boundReport{"memory with " + r.name + ", beyond bare Caddy", "MiB", more, mostMemory, 0, more <= mostMemory})
				}
			case coldTokens:
				more := coldCost(g.pairs(i), r.slices)
				all = append(all, boundReport{"a cold token, beyond a known one and an ES256 verification", "us", more, mostForCold, 0, more <= mostForCold})
			}
		}
	}
	return all
}

// coldCost is what a token costs that was not seen before, beyond a known one and the
// verification of its signature that was measured beside it.
func coldCost(pairs []ratio.Pair, slices []slice) float64 {
	var more []float64
	for i, p := range pairs {
		more = append(more, p.Subject-p.Base-slices[i].beside)
	}
	return ratio.Median(more)
}
