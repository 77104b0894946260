package envelope

import "strings"

// IsJSON reports whether a media type is one of JSON.
func IsJSON(media string) bool {
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

// MaybeJSON are the labels under which legacy upstreams send JSON. FailWhen is asked of
// what has them, and no other is translated: nothing is read that may be a failure.
func MaybeJSON(media string) bool {
	switch media {
	case "", "text/html", "text/plain", "text/javascript", "application/javascript", "application/x-javascript":
		return true
	}
	return false
}
