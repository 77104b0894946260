package authserver

import (
	"net/http"
	"strings"
)

// isSpeculative reports whether a browser asks for a page that nobody has opened yet, perhaps because the pointer is over a
// link (Fetch standard, Sec-Purpose). Pages do what they do when somebody opens them: a link may sign out, or issue a code.
// A browser throws an error away, and asks again when the link is followed.
func isSpeculative(r *http.Request) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Moz"} { // the last two are of older browsers
		purpose, _, _ := strings.Cut(r.Header.Get(name), ";")
		if strings.EqualFold(strings.TrimSpace(purpose), "prefetch") {
			return true
		}
	}
	return false
}
