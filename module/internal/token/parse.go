package token

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// maxSize bounds a token before anything else looks at it. Ours are below 1 KiB.
	maxSize = 8 << 10
	// maxHeader bounds the encoded header: typ, alg and a kid of 43 characters.
	maxHeader = 512
	// headerType is the typ of RFC 9068 section 2.1. It keeps ID tokens and other
	// JWTs of the same keys from passing for access tokens.
	headerType = "at+jwt"
	// latest is the end of the year 9999, the last time with a text form.
	latest = 253402300799
)

func refusal(reason string) error { return fmt.Errorf("%w: %s", ErrInvalid, reason) }

// The errors of access tokens. Their texts are fixed, so that nothing of a token reaches a log.
var (
	errSize      = refuse(Malformed, "too long")
	errForm      = refuse(Malformed, "not a JWS of three parts")
	errHeader    = refuse(Malformed, "malformed header")
	errType      = refuse(WrongType, "not an access token")
	errAlgorithm = refuse(BadSignature, "algorithm does not fit the key")
	errClaims    = refuse(BadClaims, "malformed claims")
	errKey       = refuse(UnknownKey, "unknown key")
	errSignature = refuse(BadSignature, "bad signature")
	errEarly     = refuse(NotYetValid, "not valid yet")
	errUser      = refuse(BadClaims, "of a user that cannot be told")
	errExpired   = &RefusedError{Refusal: Expired, cause: ErrExpired}
	errRevoked   = &RefusedError{Refusal: Revoked, cause: fmt.Errorf("%w: revoked", ErrOver)}

	errIssuer = refusal("of another issuer") // of an id_token
)

// parts of a compact JWS, RFC 7515 section 7.1.
type parts struct {
	signed, header, payload, signature string
}

// splitJWS cuts without allocating, however many dots there are (CVE-2025-30204). It refuses
// every character outside the URL-safe alphabet: decoders skip line breaks, so one token would
// have many spellings.
func splitJWS(raw string) (p parts, ok bool) {
	first, second := -1, -1
	for i := range len(raw) {
		switch c := raw[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		case c != '.' || second >= 0:
			return p, false
		case first < 0:
			first = i
		default:
			second = i
		}
	}
	if first <= 0 || second <= first+1 || second == len(raw)-1 {
		return p, false
	}
	return parts{raw[:second], raw[:first], raw[first+1 : second], raw[second+1:]}, true
}

// header is what we write and therefore all we accept.
type header struct {
	typ, alg, kid string
}

// parseHeader is the header of an access token.
func parseHeader(encoded string) (header, error) {
	h, err := ownHeader(encoded)
	if err == nil && !isAccessType(h.typ) {
		err = errType
	}
	return h, err
}

func isAccessType(typ string) bool {
	return strings.EqualFold(typ, headerType) || strings.EqualFold(typ, "application/"+headerType)
}

// ownHeader accepts exactly the members typ, alg and kid. What else a header can
// say (crit, b64, zip, jwk, jku, x5c, x5u) either changes how a token is read or
// names a key of the sender's choice, and no token of ours says it. Of duplicate
// members the last counts; the signature covers them all.
func ownHeader(encoded string) (h header, err error) {
	members, ok := decodeObject(encoded)
	if len(encoded) > maxHeader || !ok || len(members) != 3 {
		return h, errHeader
	}
	typ, okTyp := decodeText(members["typ"])
	alg, okAlg := decodeText(members["alg"])
	kid, okKid := decodeText(members["kid"])
	if !okTyp || !okAlg || !okKid {
		return h, errHeader
	}
	return header{typ, alg, kid}, nil
}

// parsed is a token's content with what only the verifier judges.
type parsed struct {
	Access
	sealed    string    // the user, when sub is a pairwise name; "" otherwise
	notBefore time.Time // zero: no nbf
}

// claimReader takes claims of their types out of a decoded object; good stays true
// while each was as it has to be.
type claimReader struct {
	claims map[string]json.RawMessage
	good   bool
}

// must is a text that is there.
func (r *claimReader) must(name string) string {
	s, ok := decodeText(r.claims[name])
	r.good = r.good && ok && s != ""
	return s
}

// may is a text, "" when it is absent.
func (r *claimReader) may(name string) string {
	if r.claims[name] == nil {
		return ""
	}
	s, ok := decodeText(r.claims[name])
	r.good = r.good && ok
	return s
}

func (r *claimReader) date(name string) time.Time {
	t, ok := numericDate(r.claims[name])
	r.good = r.good && ok
	return t
}

// epoch is a whole number, 0 when it is absent.
func (r *claimReader) epoch(name string) int64 {
	if r.claims[name] == nil {
		return 0
	}
	n, err := strconv.ParseInt(string(r.claims[name]), 10, 64)
	r.good = r.good && err == nil && n >= 0
	return n
}

// parseClaims reads the claims of RFC 9068 section 2.2. It must be called behind the
// check of the signature only.
func parseClaims(encoded string) (p parsed, ok bool) {
	m, ok := decodeObject(encoded)
	if !ok {
		return p, false
	}
	r := claimReader{claims: m, good: true}
	p.Issuer, p.Subject, p.Client, p.ID = r.must("iss"), r.must("sub"), r.must("client_id"), r.must("jti")
	p.Grant, p.Scopes, p.sealed = r.may("fam"), strings.Fields(r.may("scope")), r.may(sealedClaim)
	p.Epochs.Subject, p.Epochs.Pair = r.epoch("epoch_sub"), r.epoch("epoch_pair")
	p.IssuedAt, p.Expires = r.date("iat"), r.date("exp")
	if m["nbf"] != nil {
		p.notBefore = r.date("nbf")
	}
	p.Audience, ok = audience(m["aud"])
	return p, r.good && ok
}

// decodeObject decodes one JSON object. A map keeps member names exact: decoding into a struct
// would take "ALG" for "alg".
func decodeObject(encoded string) (map[string]json.RawMessage, bool) {
	raw, err := b64.DecodeString(encoded)
	if err != nil || !utf8.Valid(raw) {
		return nil, false
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		return nil, false
	}
	return m, true
}

func decodeText(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// audience is one string or a list of at least one (RFC 7519 section 4.1.3).
func audience(raw json.RawMessage) ([]string, bool) {
	if one, ok := decodeText(raw); ok {
		return []string{one}, one != ""
	}
	var items []json.RawMessage
	if !bytes.HasPrefix(raw, []byte("[")) || json.Unmarshal(raw, &items) != nil || len(items) == 0 {
		return nil, false
	}
	var list []string
	for _, item := range items {
		s, ok := decodeText(item)
		if !ok || s == "" {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}

// numericDate is RFC 7519 section 2: seconds, possibly with a fraction, which is cut
// off: an expiry comes early rather than late.
func numericDate(raw json.RawMessage) (time.Time, bool) {
	if len(raw) == 0 || raw[0] < '0' || raw[0] > '9' {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || seconds > latest {
		return time.Time{}, false
	}
	return time.Unix(int64(math.Floor(seconds)), 0), true
}
