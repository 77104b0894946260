package ratelimit

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Style selects the header fields that tell a client about its limits.
type Style int

const (
	// X: X-RateLimit-Limit, -Remaining and -Reset.
	X Style = iota
	// IETF: RateLimit-Policy and RateLimit of the IETF draft
	// draft-ietf-httpapi-ratelimit-headers.
	IETF
	// Both X and IETF.
	Both
)

// ParseStyle reads "x", "ietf" or "both"; "" is X.
func ParseStyle(s string) (Style, error) {
	style, ok := map[string]Style{"": X, "x": X, "ietf": IETF, "both": Both}[s]
	if !ok {
		return X, fmt.Errorf("ratelimit: headers %q: expected x, ietf or both", s)
	}
	return style, nil
}

// Fields are the header fields of one response. They keep no reference to the verdict.
type Fields struct {
	style            Style
	limit, remaining int64
	reset, retry     int64 // epoch seconds; seconds, 0 for none
	policies, state  string
	empty            bool // there is nothing to report, and fields of an upstream stay
	removed          bool // nothing is known, and fields of an upstream must not pass for ours
}

// NewFields returns the fields for the result that is reported. There is no Retry-After
// for a request that will never fit.
func NewFields(style Style, v Verdict) Fields {
	r := v.Reported()
	if r.Policy == nil {
		f := Fields{empty: true, removed: v.Outage && len(v.Results) == 0}
		if f.removed && !v.Admitted {
			f.retry = 1
		}
		return f
	}
	f := Fields{style: style, limit: r.Limit, remaining: r.Remaining, reset: epochUp(r.Reset)}
	if !v.Admitted {
		f.remaining = 0 // what is left is too little for this request
		if r.Retry != Never {
			f.retry = max(1, roundUpSeconds(r.Retry))
		}
	}
	if style != X {
		var all []string
		for _, p := range v.Results {
			if !p.Policy.DryRun {
				all = append(all, fmt.Sprintf("%q;q=%d;w=%d", p.Policy.Name, p.Limit, roundUpSeconds(p.Policy.Window)))
			}
		}
		f.policies = strings.Join(all, ", ")
		f.state = fmt.Sprintf("%q;r=%d;t=%d", r.Policy.Name, f.remaining, max(0, roundUpSeconds(r.Reset.Sub(v.At))))
	}
	return f
}

// Values are what the fields tell a client.
type Values struct {
	Limit, Remaining int64
	Reset            int64 // epoch seconds
	RetryAfter       int64 // seconds, 0 for none
}

// Values returns what the fields tell a client; ok is false if they tell nothing about a limit.
func (f Fields) Values() (v Values, ok bool) {
	return Values{Limit: f.limit, Remaining: f.remaining, Reset: f.reset, RetryAfter: f.retry}, !f.empty
}

// roundUpSeconds rounds up to whole seconds, so that a client that waits so long is not early.
func roundUpSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

func epochUp(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// The names are spelt as documented, with a capital L. Fields of an upstream and directives of a
// configuration come in net/http's canonical form instead.
var (
	xNames    = []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
	ietfNames = []string{"RateLimit-Policy", "RateLimit"}
	canonical = []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Ratelimit-Policy", "Ratelimit"}
)

// Set puts the fields into h in place of those of an upstream. Setting them again changes
// nothing.
func (f Fields) Set(h http.Header) {
	if f.empty && !f.removed {
		return
	}
	for _, names := range [][]string{xNames, ietfNames, canonical} {
		for _, name := range names {
			delete(h, name)
		}
	}
	if f.retry > 0 {
		h["Retry-After"] = []string{strconv.FormatInt(f.retry, 10)}
	}
	if f.removed {
		return
	}
	if f.style != IETF {
		text := make([]string, len(xNames))
		for i, n := range [...]int64{f.limit, f.remaining, f.reset} {
			text[i] = strconv.FormatInt(n, 10)
			h[xNames[i]] = text[i : i+1 : i+1]
		}
	}
	if f.style != X {
		h["RateLimit-Policy"] = []string{f.policies}
		h["RateLimit"] = []string{f.state}
	}
	f.exposeFields(h)
}

// Told reports whether h has fields of ours. Those of an upstream are spelt differently.
func Told(h http.Header) bool { return len(h[xNames[0]]) > 0 || len(h[ietfNames[1]]) > 0 }

// exposeFields lets scripts of other origins read the fields, if the response is for them.
func (f Fields) exposeFields(h http.Header) {
	if len(h["Access-Control-Allow-Origin"]) == 0 {
		return
	}
	const field = "Access-Control-Expose-Headers"
	names := []string{"Retry-After"}
	if f.style != X {
		names = slices.Concat(ietfNames, names)
	}
	if f.style != IETF {
		names = slices.Concat(xNames, names)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return httpguts.HeaderValuesContainsToken(h[field], name) })
	if len(names) > 0 {
		h.Add(field, strings.Join(names, ", "))
	}
}
