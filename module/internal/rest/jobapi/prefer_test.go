package jobapi

import (
	"net/http"
	"testing"
	"time"
)

func TestPreferHeaderIsParsed(t *testing.T) {
	for line, want := range map[string]Prefer{
		"":                                    {},
		"respond-async":                       {Async: true},
		"Respond-Async ; x=1":                 {Async: true},
		"respond-async, wait=10":              {true, true, 10 * time.Second},
		`wait = "7"`:                          {false, true, 7 * time.Second},
		"wait=0":                              {false, true, 0},
		"wait=100000":                         {false, true, maxWait},
		"wait=5, wait=20":                     {false, true, 5 * time.Second},
		"wait=x, wait=5":                      {},
		"wait=-1":                             {},
		"wait=99999999999999999999":           {},
		"return=minimal, handling=lenient,,;": {},
	} {
		if got := ParsePrefer(http.Header{"Prefer": {line}}); got != want {
			t.Errorf("%s: %+v", line, got)
		}
	}
	if got := ParsePrefer(http.Header{"Prefer": {"wait=3", "respond-async"}}); got.Applied() != "respond-async, wait=3" {
		t.Error(got.Applied())
	}
	if got := (Prefer{}).Applied(); got != "" {
		t.Error(got)
	}
}

func FuzzPrefer(f *testing.F) {
	f.Add("respond-async, wait=10")
	f.Fuzz(func(t *testing.T, line string) {
		p := ParsePrefer(http.Header{"Prefer": {line}})
		if p.Wait < 0 || p.Wait > maxWait || p.Wait > 0 && !p.Waits {
			t.Errorf("%+v", p)
		}
		if again := ParsePrefer(http.Header{"Prefer": {p.Applied()}}); again != p {
			t.Errorf("%+v, %+v", p, again)
		}
	})
}
