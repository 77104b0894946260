package jobapi

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxWait bounds how long a request waits for its job.
const maxWait = 30 * time.Second

// Prefer is what a client prefers (RFC 7240).
type Prefer struct {
	Async bool          // respond-async, section 4.1
	Waits bool          // wait, section 4.3
	Wait  time.Duration // at most 30 s, whatever the client asks for
}

// ParsePrefer parses the field. It ignores what it does not know or cannot parse. Of a repeated
// preference, the first counts.
func ParsePrefer(h http.Header) (p Prefer) {
	var waited bool
	for _, line := range h["Prefer"] {
		for one := range strings.SplitSeq(line, ",") {
			one, _, _ = strings.Cut(one, ";")
			name, value, _ := strings.Cut(one, "=")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "respond-async":
				p.Async = true
			case "wait":
				seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
				if err == nil && !waited {
					p.Waits, p.Wait = true, min(time.Duration(seconds)*time.Second, maxWait)
				}
				waited = true
			}
		}
	}
	return p
}

// Applied returns the field that says which preferences were applied, or "".
func (p Prefer) Applied() string {
	var all []string
	if p.Async {
		all = append(all, "respond-async")
	}
	if p.Waits {
		all = append(all, "wait="+strconv.Itoa(int(p.Wait/time.Second)))
	}
	return strings.Join(all, ", ")
}
