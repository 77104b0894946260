package list

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

func TestRoundListLengths(t *testing.T) {
	for _, n := range []int64{10, 20, 25, 50, 100, 200, 250, 500, 1000, 2500, 100_000} {
		if !IsRound(n) {
			t.Errorf("%d is none", n)
		}
	}
	for _, n := range []int64{0, 1, 2, 5, 9, 11, 15, 30, 99, 101, 125, 1001} {
		if IsRound(n) {
			t.Errorf("%d is one", n)
		}
	}
}

func TestCursorSizeIsLimited(t *testing.T) {
	c := &Config{Cursors: []Cursor{{"a", "/a"}, {"b", "/b"}}}
	text := func(n int) splice.Scalar {
		return splice.Scalar{Kind: splice.String, Text: strings.Repeat("x", n)}
	}
	if next, err := c.Next([]splice.Scalar{text(1000), text(maxPosition - 1000 - len("ab"))}); err != nil || len(next) != 2 {
		t.Errorf("at the bound: %v", err)
	}
	for _, values := range [][]splice.Scalar{{text(1000), text(maxPosition - 1001)}, {{Long: true}, text(1)}, {{Kind: splice.Array}, text(1)}} {
		if next, err := c.Next(values); err == nil || next != nil {
			t.Errorf("%.60v: %v", values, err)
		}
	}
	if next, err := c.Next([]splice.Scalar{text(0), text(1)}); err != nil || len(next) != 2 {
		t.Errorf("an empty one beside another is sent: %v %v", next, err)
	}
}
