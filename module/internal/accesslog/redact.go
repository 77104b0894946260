package accesslog

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// redacted replaces what a log must not show.
const redacted = "REDACTED"

// Limits on what is shown of a URL.
const (
	maxShownPairs   = 32
	maxShownValue   = 256 // bytes, escaped
	maxShownSegment = 20  // our shortest secrets have 22 characters
	maxShownWord    = 64
	maxShownPath    = 256
)

// shownParameters are those whose values a log may show: none is a credential, and they tell why
// a request failed. All others are redacted, including the names of unknown parameters: a token
// may be the whole query.
var shownParameters = []string{
	"appid", "client_id", "code_challenge_method", "display", "error", "f", "grant_type", "iss", "lang", "last", "login_type", "max_age",
	"prompt", "redirect_uri", "response_mode", "response_type", "scope", "self_redirect", "style", "token_type_hint",
	"ui_locales",
}

// namedParameters are those of which only the name is shown.
var namedParameters = []string{
	"access_token", "acr_values", "claims", "client_assertion", "client_assertion_type", "client_secret", "code", "code_challenge",
	"code_verifier", "decision", "device_code", "error_description", "id_token", "id_token_hint", "login_hint", "logout_hint", "nonce", "number", "openid",
	"password", "post_logout_redirect_uri", "refresh_token", "registration", "request", "request_uri", "resource", "secret", "state",
	"ticket", "token", "unionid", "user_code", "username", "uuid", "wx_code",
}

// Headers whose values a log may show; of others only the name.
var (
	shownRequestHeaders = headerSet(
		"Accept", "Accept-Encoding", "Accept-Language", "Access-Control-Request-Headers", "Access-Control-Request-Method",
		"Cache-Control", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Dnt", "Expect", "If-None-Match", "Keep-Alive",
		"Origin", "Pragma", "Priority", "Range", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User", "Sec-Gpc",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Upgrade-Insecure-Requests", "User-Agent", "Via", "X-Forwarded-For",
		"X-Forwarded-Host", "X-Forwarded-Proto",
	)
	shownResponseHeaders = headerSet(
		"Access-Control-Allow-Headers", "Access-Control-Allow-Methods", "Access-Control-Allow-Origin", "Access-Control-Max-Age", "Allow",
		"Alt-Svc", "Cache-Control", "Content-Encoding", "Content-Language", "Content-Length", "Content-Security-Policy", "Content-Type",
		"Cross-Origin-Opener-Policy", "Date", "Etag", "Pragma", "Referrer-Policy", "Retry-After", "Server", "Strict-Transport-Security",
		"Vary", "Via", "Www-Authenticate", "X-Content-Type-Options", "X-Frame-Options",
	)
)

func headerSet(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// redactHeader returns a copy with only the values that are known to be harmless. A Location is
// shown with its query and fragment redacted.
func redactHeader(h http.Header, shown map[string]bool) http.Header {
	out := make(http.Header, len(h))
	for name, values := range h {
		switch {
		case shown[name]:
			out[name] = values
		case name == "Location" && len(values) == 1:
			out[name] = []string{redactURI(values[0])}
		default:
			out[name] = []string{redacted}
		}
	}
	return out
}

// redactURI redacts the URL of a request or a Location.
func redactURI(uri string) string {
	rest, _, hasFragment := strings.Cut(uri, "#")
	before, query, hasQuery := strings.Cut(rest, "?")
	out := redactBase(before)
	if hasQuery {
		out += "?" + redactQuery(query)
	}
	if hasFragment {
		out += "#" + redacted
	}
	return out
}

// RedactPath returns the path of a request to the authorization server without its secrets.
func RedactPath(path string) string { return redactBase(path) }

// redactBase keeps scheme, host and the path's plain segments, but no user name.
func redactBase(base string) string {
	var origin string
	if scheme, rest, ok := strings.Cut(base, "://"); ok && !strings.Contains(scheme, "/") {
		host, path, slash := strings.Cut(rest, "/")
		if !plain(scheme) || strings.ContainsAny(host, "@%") || len(host) > maxShownValue {
			return redacted
		}
		origin, base = scheme+"://"+host, ""
		if slash {
			base = "/" + path
		}
	} else if scheme, rest, ok := strings.Cut(base, ":"); ok { // com.example.app:/callback
		if !plain(scheme) {
			return redacted
		}
		origin, base = scheme+":", rest
	}
	segments := strings.Split(base, "/")
	for i, s := range segments {
		// After qrcode comes the name of a ticket, whatever it looks like.
		if !plain(s) || i > 0 && segments[i-1] == "qrcode" && s != "" {
			segments[i] = redacted
		}
	}
	path := strings.Join(segments, "/")
	if len(path) > maxShownPath {
		path = redacted
	}
	return origin + path
}

// plain reports whether a segment of a path cannot be a secret: it is short, or a word.
func plain(segment string) bool {
	word := true
	for i := range len(segment) {
		switch c := segment[i]; {
		case 'a' <= c && c <= 'z', c == '-', c == '_', c == '.':
		case 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '~':
			word = false
		default:
			return false
		}
	}
	return len(segment) <= maxShownSegment || word && len(segment) <= maxShownWord
}

func redactQuery(query string) string {
	var out []string
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		if len(out) == maxShownPairs {
			out = append(out, redacted)
			break
		}
		escaped, value, hasValue := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(escaped)
		switch {
		case err != nil, !slices.Contains(shownParameters, name) && !slices.Contains(namedParameters, name):
			out = append(out, redacted)
		case !hasValue:
			out = append(out, name)
		case slices.Contains(namedParameters, name):
			out = append(out, name+"="+redacted)
		case name == "redirect_uri" || name == "iss":
			out = append(out, name+"="+redactAddress(value))
		case len(value) > maxShownValue:
			out = append(out, name+"="+redacted)
		default:
			out = append(out, name+"="+value)
		}
	}
	return strings.Join(out, "&")
}

// redactAddress is redactURI for the value of a parameter.
func redactAddress(escaped string) string {
	address, err := url.QueryUnescape(escaped)
	if err != nil || len(address) > 4*maxShownValue {
		return redacted
	}
	return url.QueryEscape(redactURI(address))
}
