package ratelimit

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Style is which header fields tell a client about its limits.
type Style int

const (
	// X: X-RateLimit-Limit, -Remaining and -Reset.
	X Style = iota
	// IETF: RateLimit-Policy and RateLimit of the IETF draft
	// draft-ietf-httpapi-ratelimit-headers.
	IETF
	// Both of them.
	Both
)

// ParseStyle reads "x", "ietf" or "both"; "" is X.
func ParseStyle(s string) (Style, error) {
	switch s {
	case "", "x":
		return X, nil
	case "ietf":
		return IETF, nil
	case "both":
		return Both, nil
	}
	return X, fmt.Errorf("ratelimit: headers %q: expected x, ietf or both", s)
}

// Fields are the header fields of one response. They hold on to nothing of the verdict
// they were made from.
type Fields struct {
	style            Style
	limit, remaining int64
	reset, retry     int64 // epoch seconds; seconds, 0 for none
	policies, state  string
	empty            bool // nothing is to be said, and fields of an upstream stay
	removed          bool // nothing is known, so that no number of an upstream is to be taken for ours
}

// NewFields makes the fields of the result that is reported. There is no Retry-After
// for a request that will never fit: whatever it said would be a lie.
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
		f.remaining = 0 // what is left is too little for this request, and would read as if it were not
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

// roundUpSeconds rounds a duration up to whole seconds: a client that waits so long is not early.
func roundUpSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

func epochUp(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// Spelt as documented, with a capital L, which net/http's canonical form is not. That
// form is what an upstream's fields and the directives of a configuration come under.
var (
	xNames    = []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
	ietfNames = []string{"RateLimit-Policy", "RateLimit"}
	canonical = []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Ratelimit-Policy", "Ratelimit"}
)

// Set puts the fields into h, in place of whatever an upstream sent under their names.
// Setting them again changes nothing.
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

// Told reports whether h has the fields of a limit of ours, which no upstream can spell.
func Told(h http.Header) bool { return len(h[xNames[0]]) > 0 || len(h[ietfNames[1]]) > 0 }

// exposeFields lets scripts of other origins read the fields, when the response is for them.
func (f Fields) exposeFields(h http.Header) {
	if len(h["Access-Control-Allow-Origin"]) == 0 {
		return
	}
	const field = "Access-Control-Expose-Headers"
	var missing []string
	add := func(names ...string) {
		for _, name := range names {
			if !isListed(h[field], name) {
				missing = append(missing, name)
			}
		}
	}
	if f.style != IETF {
		add(xNames...)
	}
	if f.style != X {
		add(ietfNames...)
	}
	add("Retry-After")
	if len(missing) > 0 {
		h.Add(field, strings.Join(missing, ", "))
	}
}

func isListed(lines []string, name string) bool {
	for _, line := range lines {
		for entry := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(entry), name) {
				return true
			}
		}
	}
	return false
}
