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
	empty            bool
}

// NewFields makes the fields of the result that is reported.
func NewFields(style Style, v Verdict) Fields {
	r := v.Reported()
	if r.Policy == nil {
		return Fields{empty: true}
	}
	f := Fields{style: style, limit: r.Limit, remaining: r.Remaining, reset: epochUp(r.Reset)}
	if !v.Admitted {
		f.remaining = 0
		if r.Retry != Never {
			f.retry = max(1, up(r.Retry))
		}
	}
	if style != X {
		var all []string
		for _, p := range v.Results {
			if !p.Policy.DryRun {
				all = append(all, fmt.Sprintf("%q;q=%d;w=%d", p.Policy.Name, p.Limit, up(p.Policy.Window)))
			}
		}
		f.policies = strings.Join(all, ", ")
		f.state = fmt.Sprintf("%q;r=%d;t=%d", r.Policy.Name, f.remaining, max(0, up(r.Reset.Sub(v.At))))
	}
	return f
}

// up rounds a duration up to whole seconds: a client that waits so long is not early.
func up(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

func epochUp(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

var (
	xNames    = []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
	ietfNames = []string{"RateLimit-Policy", "RateLimit"}
)

// Set puts the fields into h, in place of whatever an upstream sent under their names.
// They are spelt as documented, with a capital L, which net/http's canonical form is not.
func (f Fields) Set(h http.Header) {
	if f.empty {
		return
	}
	for _, names := range [][]string{xNames, ietfNames} {
		for _, name := range names {
			delete(h, http.CanonicalHeaderKey(name))
			delete(h, name)
		}
	}
	if f.style != IETF {
		text := make([]string, 3)
		for i, n := range [...]int64{f.limit, f.remaining, f.reset} {
			text[i] = strconv.FormatInt(n, 10)
			h[xNames[i]] = text[i : i+1 : i+1]
		}
	}
	if f.style != X {
		h["RateLimit-Policy"] = []string{f.policies}
		h["RateLimit"] = []string{f.state}
	}
	if f.retry > 0 {
		h.Set("Retry-After", strconv.FormatInt(f.retry, 10))
	}
	f.expose(h)
}

// expose lets scripts of other origins read the fields, when the response is for them.
func (f Fields) expose(h http.Header) {
	if h.Get("Access-Control-Allow-Origin") == "" {
		return
	}
	var names []string
	if f.style != IETF {
		names = append(names, xNames...)
	}
	if f.style != X {
		names = append(names, ietfNames...)
	}
	h.Add("Access-Control-Expose-Headers", strings.Join(append(names, "Retry-After"), ", "))
}
