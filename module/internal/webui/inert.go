package webui

import (
	"fmt"
	"strings"
)

// maxInert is how many bytes of a request a page repeats.
const maxInert = 200

// inertAddress returns what was sent as a URL, for a developer to compare: truncated, and with
// every byte that cannot occur in a URL as %XX. Readers would believe somebody else's words on
// the gateway's page; without spaces and letters of other scripts there are hardly any. Query,
// fragment and credentials are omitted, since they may contain secrets.
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
