package guard

import (
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// aliases are header names in every spelling that an upstream may read as the same name: CGI,
// WSGI and PHP turn "-" into "_", PHP also ".", old Apaches any other character.
type aliases struct {
	names   []string
	lengths uint64 // bit n: a name has n bytes; rules out most headers
}

func newAliases(names []string) aliases {
	a := aliases{names: names}
	for _, n := range names {
		a.lengths |= 1 << (len(n) & 63)
	}
	return a
}

func (a aliases) have(name string) bool {
	return a.lengths&(1<<(len(name)&63)) != 0 && slices.ContainsFunc(a.names, func(n string) bool { return sameHeader(n, name) })
}

func (a aliases) deleteFrom(h http.Header) {
	for name := range h {
		if a.have(name) {
			delete(h, name)
		}
	}
}

func sameHeader(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		c, d := a[i], b[i]
		if isAlnum(c) != isAlnum(d) || isAlnum(c) && toLower(c) != toLower(d) {
			return false
		}
	}
	return true
}

func isAlnum(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' }

func toLower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c |= 0x20
	}
	return c
}

// stripConnection keeps a client from naming our headers as hop-by-hop, which would
// make the proxy delete them after we set them.
func (i *Identity) stripConnection(h http.Header) {
	if !slices.ContainsFunc(h["Connection"], i.namesOurs) {
		return
	}
	var kept []string
	for _, v := range h["Connection"] {
		for name := range strings.SplitSeq(v, ",") {
			if name = strings.TrimSpace(name); name != "" && !i.ours.have(name) {
				kept = append(kept, name)
			}
		}
	}
	if len(kept) == 0 {
		delete(h, "Connection")
		return
	}
	h["Connection"] = []string{strings.Join(kept, ", ")}
}

// namesOurs reports whether a list of header names contains one of the gateway's.
func (i *Identity) namesOurs(list string) bool {
	for name := range strings.SplitSeq(list, ",") {
		if i.ours.have(strings.TrimSpace(name)) {
			return true
		}
	}
	return false
}

// stripTrailer removes trailers that were announced, and those that net/http adds at the end of
// the body.
func (i *Identity) stripTrailer(r *http.Request) {
	if r.Trailer == nil {
		return
	}
	i.removed.deleteFrom(r.Trailer)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &trailerBody{r.Body, r.Trailer, i}
	}
}

type trailerBody struct {
	io.ReadCloser
	trailer  http.Header
	identity *Identity
}

func (b *trailerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.identity.removed.deleteFrom(b.trailer)
	}
	return n, err
}

// StripCookies removes the gateway's cookies from a request's header and leaves all others
// as they are.
func StripCookies(h http.Header) {
	lines := h["Cookie"]
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, httpx.CookieName) }) {
		return
	}
	var kept []string
	for _, line := range lines {
		if line = withoutOurCookies(line); line != "" {
			kept = append(kept, line)
		}
	}
	if len(kept) == 0 {
		delete(h, "Cookie")
		return
	}
	h["Cookie"] = kept
}

func withoutOurCookies(line string) string {
	var kept []string
	dropped := false
	for pair := range strings.SplitSeq(line, ";") {
		name, _, _ := strings.Cut(pair, "=")
		if httpx.IsOurCookie(strings.Trim(name, " \t")) {
			dropped = true
		} else {
			kept = append(kept, pair)
		}
	}
	if !dropped {
		return line
	}
	return strings.TrimLeft(strings.Join(kept, ";"), " \t")
}
