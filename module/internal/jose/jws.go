package jose

import (
	"encoding/base64"
	"time"
)

// Leeway is the tolerance for clock differences, applied to nbf and iat.
const Leeway = time.Minute

// Base64 is the encoding of all parts of a JWS and of all numbers in a JWK.
var Base64 = base64.RawURLEncoding.Strict()

// JWS is a compact JWS (RFC 7515 section 7.1), split into its encoded parts. Signed is the part that the
// signature covers.
type JWS struct {
	Signed, Header, Payload, Signature string
}

// Split splits a compact JWS without allocating, however many dots it has (CVE-2025-30204). It refuses every
// character outside the URL-safe alphabet: decoders skip line breaks, so one token could be spelled in many ways.
func Split(raw string) (s JWS, ok bool) {
	first, second := -1, -1
	for i := range len(raw) {
		switch c := raw[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		case c != '.' || second >= 0:
			return s, false
		case first < 0:
			first = i
		default:
			second = i
		}
	}
	if first <= 0 || second <= first+1 || second == len(raw)-1 {
		return s, false
	}
	return JWS{raw[:second], raw[:first], raw[first+1 : second], raw[second+1:]}, true
}
