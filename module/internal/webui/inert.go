package webui

import (
	"fmt"
	"strings"
)

// maxInert is how much of what a stranger sent a page repeats, in bytes.
const maxInert = 200

// inertAddress is what was sent as an address, for a developer to compare: cut, and with every
// byte that an address does not have as %XX. Somebody else's words on our page would be
// believed; without spaces and letters of other scripts there are hardly any. A query, a
// fragment and a user with a password are left out, since they may hold secrets.
func inertAddress(sent string) string {
	tail := ""
	if i := strings.IndexAny(sent, "?#"); i >= 0 && i+1 < len(sent) {
		sent, tail = sent[:i+1], "…"
	}
	start, rest := "", sent
	if i := strings.IndexAny(sent, `/\`); i >= 0 && !strings.Contains(sent[:i], "@") {
		i += len(sent[i:]) - len(strings.TrimLeft(sent[i:], `/\`))
		start, rest = sent[:i], sent[i:]
	}
	authority := rest
	if i := strings.IndexAny(rest, `/\`); i >= 0 {
		authority = rest[:i]
	}
	user := ""
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, rest = "…", rest[i:]
	}
	if len(start)+len(rest) > maxInert {
		start = start[:min(len(start), maxInert)]
		rest, tail = rest[:maxInert-len(start)], "…"
	}
	return escapeByte(start) + user + escapeByte(rest) + tail
}

func escapeByte(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
