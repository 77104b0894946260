package webui

import (
	"fmt"
	"strings"
)

// maxInert is how much of what a stranger sent a page repeats, in bytes.
const maxInert = 200

// inert is what was sent as an address, for a developer to compare: cut, and with every
// byte that an address does not have as %XX. Somebody else's words on our page would be
// believed; without spaces and letters of other scripts there are hardly any.
func inert(sent string) string {
	var b strings.Builder
	for i := range min(len(sent), maxInert) {
		if c := sent[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	if len(sent) > maxInert {
		b.WriteString("…")
	}
	return b.String()
}
