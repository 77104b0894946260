package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func example() Chart {
	return Chart{Title: "CPU <of> a request", Subtitle: "a & b", Groups: []Group{
		{Title: "One", Bars: []Bar{{Name: "half", Value: 0.5, Low: 0.4, High: 0.6, Bound: 0.75}, {Name: "peer", Value: 0.25, Low: 0.2, High: 0.3, Muted: true}}},
		{Title: "Two", Bars: []Bar{{Name: "beyond the scale", Value: 40, Low: 30, High: 50}}},
	}}
}

func TestChartIsWellFormedXML(t *testing.T) {
	for _, c := range []Chart{example(), {}} {
		d := xml.NewDecoder(strings.NewReader(c.SVG()))
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in %s", err, c.SVG())
			}
		}
	}
}

func TestChartBarLengthMatchesItsValue(t *testing.T) {
	c := example()
	c.Groups = c.Groups[:1]
	svg := c.SVG()
	for _, want := range []string{
		`CPU &lt;of&gt; a request`, `a &amp; b`,
		`<rect class="b" x="330" y="99" width="230.0" `, // half of what is between 330 and 790
		`<rect class="m" x="330" y="119" width="115.0" `,
		`<line class="w" x1="514.0" x2="606.0" `, // the spread
		`<line class="l" x1="675.0" x2="675.0" `, // the bound
		`<text x="681.0" y="110.0">0.50</text>`,
		`<line class="o" x1="790.0" `, // at 1
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
}

func TestChartBarIsClippedAtTheScale(t *testing.T) {
	svg := example().SVG()
	if !strings.Contains(svg, `width="460.0" height="14" rx="2"/><line class="w" x1="790.0" x2="790.0"`) || !strings.Contains(svg, ">40.00</text>") {
		t.Error(svg)
	}
}
