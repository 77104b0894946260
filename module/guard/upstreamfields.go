package guard

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// AnswerField is a header field by which an upstream could speak for the gateway: a closed
// set, suitable as a metric label.
type AnswerField string

const (
	// SetCookie with one of our names would replace a session or a browser binding where the
	// issuer shares a host with the API. Cookies ignore ports.
	SetCookie AnswerField = "set_cookie"
	// ClearSiteData would delete our cookies, whichever host the issuer has: browsers clear those
	// of the whole registrable domain.
	ClearSiteData AnswerField = "clear_site_data"
	// Challenge with one of our realms would make clients discard valid tokens, or ask people for
	// a password.
	Challenge AnswerField = "www_authenticate"
)

// AnswerFields lists all AnswerField values.
var AnswerFields = []AnswerField{SetCookie, ClearSiteData, Challenge}

// Answer removes from an upstream's responses the fields that only the gateway may send. It is
// safe for concurrent use.
type Answer struct {
	realms     []string          // in lower case
	challenges func(string) bool // namesRealm, bound once: each method value allocates
}

// NewAnswer returns an Answer for a gateway whose challenges have these realms, besides serverRealm.
func NewAnswer(realms ...string) *Answer {
	a := &Answer{realms: []string{serverRealm}}
	a.challenges = a.namesRealm
	for _, r := range realms {
		a.realms = append(a.realms, strings.ToLower(r))
	}
	return a
}

// serverRealm is the realm of the authorization server's endpoints, except /userinfo, whose realm
// is the issuer.
const serverRealm = "gatehouse"

// Strip removes the fields from a header and its trailers, and calls removed once for each kind
// of field that it found. A line that contains something of the gateway's and something else is
// removed completely. Strip does not allocate if there is nothing to remove.
func (a *Answer) Strip(h http.Header, removed func(AnswerField)) {
	for _, f := range [...]struct {
		field         AnswerField
		name, trailer string
		ours          func(string) bool
	}{
		{SetCookie, "Set-Cookie", http.TrailerPrefix + "Set-Cookie", setsOurCookie},
		{ClearSiteData, "Clear-Site-Data", http.TrailerPrefix + "Clear-Site-Data", clearsCookies},
		{Challenge, "Www-Authenticate", http.TrailerPrefix + "Www-Authenticate", a.challenges},
	} {
		inHeader, inTrailer := removeOurs(h, f.name, f.ours), removeOurs(h, f.trailer, f.ours)
		if inHeader || inTrailer {
			removed(f.field)
		}
	}
}

// removeOurs removes the values of a field that are the gateway's, and reports whether there
// were any.
func removeOurs(h http.Header, name string, ours func(string) bool) bool {
	values := h[name]
	if !slices.ContainsFunc(values, ours) {
		return false
	}
	kept := slices.DeleteFunc(slices.Clone(values), ours) // the upstream's slice may be in use elsewhere
	if len(kept) == 0 {
		delete(h, name)
	} else {
		h[name] = kept
	}
	return true
}

// setsOurCookie reads a Set-Cookie as leniently as browsers do. They send a cookie without a name
// as its value alone, so "=gatehouse=x" comes back as if it were ours.
func setsOurCookie(line string) bool {
	line = strings.TrimLeftFunc(line, func(c rune) bool { return c == '=' || c == ';' || isBlank(c) })
	if end := strings.IndexAny(line, "=;"); end >= 0 {
		line = line[:end]
	}
	return httpx.ResemblesOurCookie(strings.TrimFunc(line, isBlank))
}

// isBlank reports whether some parser of cookies trims the character from a name.
func isBlank(c rune) bool { return c <= ' ' || c == 0x7f || c == '"' }

// clearsCookies reads a Clear-Site-Data. Some browsers ignore blanks, even within the quotes.
func clearsCookies(value string) bool {
	for directive := range strings.SplitSeq(value, ",") {
		switch strings.ToLower(withoutBlanks(directive)) {
		case "cookies", "*":
			return true
		}
	}
	return false
}

func withoutBlanks(s string) string {
	return strings.Map(func(c rune) rune {
		if isBlank(c) || c == '\\' { // a backslash quotes what follows
			return -1
		}
		return c
	}, s)
}

// namesRealm reports whether a WWW-Authenticate names one of our realms anywhere in the
// line, since clients differ in how they read lists of challenges and broken quotes.
func (a *Answer) namesRealm(line string) bool {
	line = strings.ToLower(strings.ReplaceAll(line, `\`, "")) // no realm of ours has a backslash
	for {
		_, rest, found := strings.Cut(line, "realm")
		if !found {
			return false
		}
		line = rest
		value := strings.TrimLeft(rest, " \t=\"'")
		begin, ends := rest[:len(rest)-len(value)], "\"'"
		if !strings.ContainsAny(begin, ends) {
			ends += " \t,"
		}
		if strings.Contains(begin, "=") && slices.ContainsFunc(a.realms, func(r string) bool { return isRealm(value, r, ends) }) {
			return true
		}
	}
}

// isRealm reports whether value, the rest of a line, begins with a realm and then ends or
// continues with one of ends.
func isRealm(value, realm, ends string) bool {
	rest, ok := strings.CutPrefix(value, realm)
	return ok && (rest == "" || strings.IndexByte(ends, rest[0]) >= 0)
}
