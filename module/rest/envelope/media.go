package envelope

import (
	"mime"
	"net/http"
	"strings"
)

// MediaType returns the media type of a Content-Type header field in lower case, and the name of
// its charset, or "" (RFC 9110 section 8.3.1).
func MediaType(h http.Header) (media, charset string) {
	var value string
	if values := h["Content-Type"]; len(values) > 0 {
		value = values[0]
	}
	if value == "application/json" {
		return value, ""
	}
	media, rest, more := strings.Cut(value, ";")
	if isPlainMedia(media) { // the usual case, which needs no parser
		if !more {
			return media, ""
		}
		if name, charset, ok := strings.Cut(strings.TrimPrefix(rest, " "), "="); ok && strings.EqualFold(name, "charset") && isPlainToken(charset) {
			return media, charset
		}
	}
	media, params, _ := mime.ParseMediaType(value)
	return media, params["charset"]
}

// isPlainMedia reports whether a media type is in lower case and without spaces.
func isPlainMedia(media string) bool {
	kind, form, ok := strings.Cut(media, "/")
	return ok && isPlainToken(kind) && isPlainToken(form) && strings.ToLower(media) == media
}

// isPlainToken reports whether a text is a token (RFC 9110 section 5.6.2) of the characters that
// occur in names of media types and charsets.
func isPlainToken(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '+', c == '_':
		default:
			return false
		}
	}
	return text != ""
}

// IsJSON reports whether a media type denotes JSON. Servers of JSON-RPC, and older ones, have their
// own names for it.
func IsJSON(media string) bool {
	switch media {
	case "application/json", "text/json", "application/json-rpc", "application/jsonrequest", "application/x-json", "text/x-json":
		return true
	}
	return strings.HasSuffix(media, "+json")
}

// MaybeJSON reports whether legacy upstreams send JSON with this label. FailWhen is evaluated
// for these labels and only these are translated, so nothing is translated without having been
// checked for a failure.
func MaybeJSON(media string) bool {
	switch media {
	case "", "text/html", "text/plain", "text/javascript", "application/javascript", "application/x-javascript":
		return true
	}
	return false
}
