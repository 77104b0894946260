// Package chart draws bars as SVG.
package chart

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// Chart is a chart of horizontal bars.
type Chart struct {
	Title, Subtitle string
	Groups          []Group
}

// Group is some bars below a heading.
type Group struct {
	Title string
	Bars  []Bar
}

// Bar is a value with its spread.
type Bar struct {
	Name             string
	Value, Low, High float64
	Bound            float64 // 0: none
	Muted            bool    // drawn in grey
}

// Sizes in pixels.
const (
	width   = 860
	left    = 330 // where bars begin
	right   = 70  // room for values
	row     = 20
	heading = 34
	top     = 62
)

// mostScale is the longest bar. One that is longer ends there.
const mostScale = 3

const style = `text{font:12px system-ui,sans-serif;fill:#1f2937}.t{font-size:16px;font-weight:600}.s,.a{fill:#6b7280;font-size:11px}.g{font-weight:600}` +
	`.n{text-anchor:end}.b{fill:#2563eb}.m{fill:#9ca3af}.w{stroke:#111827;stroke-width:1}.l{stroke:#dc2626;stroke-width:2}.x{stroke:#e5e7eb}.o{stroke:#6b7280;stroke-dasharray:3 3}`

// SVG draws the chart.
func (c Chart) SVG() string {
	most := 1.0
	rows, groups := 0, 0
	for _, g := range c.Groups {
		groups++
		for _, b := range g.Bars {
			rows++
			most = max(most, b.High, b.Value, b.Bound)
		}
	}
	most = min(mostScale, math.Ceil(most*4)/4)
	height := top + groups*heading + rows*row + 24
	x := func(value float64) float64 { return left + min(value, most)/most*(width-left-right) }

	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img"><title>%s</title><style>%s</style>`, width, height, escape(c.Title), style)
	fmt.Fprintf(&s, "\n"+`<rect width="100%%" height="100%%" rx="8" fill="#fff"/><text class="t" x="16" y="28">%s</text><text class="s" x="16" y="46">%s</text>`+"\n", escape(c.Title), escape(c.Subtitle))
	for tick := 0.0; tick <= most; tick += 0.25 {
		class := "x"
		if tick == 1 {
			class = "o"
		}
		fmt.Fprintf(&s, `<line class="%s" x1="%.1f" x2="%.1[2]f" y1="%d" y2="%d"/><text class="a" x="%.1f" y="%d" text-anchor="middle">%.2f</text>`+"\n",
			class, x(tick), top, height-20, x(tick), height-7, tick)
	}
	y := top
	for _, g := range c.Groups {
		fmt.Fprintf(&s, `<text class="g" x="16" y="%d">%s</text>`+"\n", y+heading-12, escape(g.Title))
		y += heading
		for _, b := range g.Bars {
			b.draw(&s, x, y)
			y += row
		}
	}
	return s.String() + "</svg>\n"
}

// draw draws a bar, its spread, its bound and its value in a row that begins at y.
func (b Bar) draw(s *strings.Builder, x func(float64) float64, y int) {
	class := "b"
	if b.Muted {
		class = "m"
	}
	middle := float64(y) + row/2
	fmt.Fprintf(s, `<text class="n" x="%d" y="%.1f">%s</text><rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>`,
		left-8, middle+4, escape(b.Name), class, left, y+3, x(b.Value)-left, row-6)
	fmt.Fprintf(s, `<line class="w" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1[3]f"/>`, x(b.Low), x(b.High), middle)
	end := max(x(b.High), x(b.Value))
	if b.Bound > 0 {
		fmt.Fprintf(s, `<line class="l" x1="%.1f" x2="%.1[1]f" y1="%d" y2="%d"/>`, x(b.Bound), y+1, y+row-1)
		end = max(end, x(b.Bound))
	}
	fmt.Fprintf(s, `<text x="%.1f" y="%.1f">%.2f</text>`+"\n", end+6, middle+4, b.Value)
}

func escape(text string) string {
	var s strings.Builder
	_ = xml.EscapeText(&s, []byte(text)) // a strings.Builder does not fail
	return s.String()
}
