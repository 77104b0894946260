package livewatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/watch"
)

func TestWatchSummaryCountsOutcomesAndCallers(t *testing.T) {
	var s Summary
	for i := range 1000 {
		s.add(&watch.Decision{Outcome: watch.Allowed, Status: 200, Milliseconds: float64(i+1) / 10})
	}
	for i := range 30 {
		s.add(&watch.Decision{Outcome: watch.Refused, Client: fmt.Sprintf("c%02d", i%20), Path: "/x", Method: "GET", Reason: "no_rule"})
	}
	s.add(&watch.Decision{Outcome: watch.Refused, Path: "/token", Method: "POST", Status: 401})
	r := s.report(time.Minute)
	if r.Requests != 1031 || r.Outcomes[watch.Refused] != 31 || r.Outcomes[watch.Failed] != 0 || len(r.CallersRefused) != topNames || r.CallersRefused[0] != (named{"c00", 2}) {
		t.Errorf("%+v", r)
	}
	if r.RoutesRefused[0] != (named{"GET /x", 30}) || r.RefusalReasons[0] != (named{"no_rule", 30}) || r.RefusalReasons[1] != (named{"status 401", 1}) {
		t.Errorf("%+v", r)
	}
	if r.P50 < 45 || r.P50 > 52 || r.P99 < 92 || r.P99 > 105 {
		t.Errorf("p50 %v, p99 %v", r.P50, r.P99)
	}
}

func TestWatchSummaryIsLimited(t *testing.T) {
	var s Summary
	for i := range maxNames + 10 {
		s.add(&watch.Decision{Outcome: watch.Refused, Address: fmt.Sprint(i), Path: fmt.Sprint("/", i)})
	}
	if len(s.callers) != maxNames || len(s.routes) != maxNames || s.outcomes[watch.Refused] != maxNames+10 {
		t.Error(len(s.callers), len(s.routes), s.outcomes)
	}
}

func TestWatchJSONLinesAreSafeForTerminals(t *testing.T) {
	var out bytes.Buffer
	bad := "\x1b[31m\u009b\u202e\U000E0041<ok>é"
	p := &Printer{Out: &out, JSON: true, Neutralize: func(s string) string {
		return strings.Map(func(c rune) rune {
			if strings.ContainsRune("\x1b\u009b\u202e\U000E0041", c) {
				return '�'
			}
			return c
		}, s)
	}}
	p.Decided(&watch.Decision{Path: bad, Outcome: watch.Allowed})
	var d watch.Decision
	if err := json.Unmarshal(out.Bytes(), &d); err != nil || d.Path != bad {
		t.Errorf("%v %q", err, d.Path)
	}
	if strings.ContainsAny(out.String(), "\x1b\u009b\u202e\U000E0041") || !strings.Contains(out.String(), "<ok>é") {
		t.Errorf("%q", out.String())
	}
}
