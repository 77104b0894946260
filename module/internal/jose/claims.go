package jose

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// MaxTime is the end of the year 9999 in Unix seconds, the last time that can be formatted.
const MaxTime = 253402300799

// Claims reads the members of a JSON object. OK stays true as long as the object was well-formed and each member
// that was read had the expected type.
type Claims struct {
	// members are compared by name here, because decoding into a struct would accept "ALG" for "alg".
	members members
	OK      bool
}

// ClaimsOf reads members that are decoded already.
func ClaimsOf(all map[string]json.RawMessage) Claims {
	return Claims{members: members{many: all}, OK: true}
}

// DecodeClaims decodes a header or payload. If it is not a JSON object, OK of the result is false.
func DecodeClaims(encoded string) Claims {
	raw, err := Base64.DecodeString(encoded)
	if err != nil || !utf8.Valid(raw) {
		return Claims{}
	}
	m, ok := parseMembers(raw)
	return Claims{members: m, OK: ok}
}

// Len is the number of members; of duplicates the last one counts.
func (c *Claims) Len() int { return len(c.members.few) + len(c.members.many) }

// Raw returns a member as it is written, nil if it is absent.
func (c *Claims) Raw(name string) json.RawMessage { return c.members.get(name) }

// Only reports whether the object has no members but those named.
func (c *Claims) Only(names ...string) bool {
	n := 0
	for _, name := range names {
		if c.Raw(name) != nil {
			n++
		}
	}
	return n == c.Len()
}

// Text returns a string, which must be present and not empty.
func (c *Claims) Text(name string) string {
	s, ok := decodeText(c.Raw(name))
	c.OK = c.OK && ok && s != ""
	return s
}

// OptionalText returns a string, or "" if it is absent.
func (c *Claims) OptionalText(name string) string {
	raw := c.Raw(name)
	if raw == nil {
		return ""
	}
	s, ok := decodeText(raw)
	c.OK = c.OK && ok
	return s
}

// Date returns a NumericDate (RFC 7519 section 2): seconds, possibly with a fraction, which is cut off so that an
// expiry comes early rather than late.
func (c *Claims) Date(name string) time.Time {
	raw := string(c.Raw(name))
	seconds, err := strconv.ParseFloat(raw, 64)
	if raw == "" || raw[0] < '0' || raw[0] > '9' || err != nil || seconds > MaxTime {
		c.OK = false
		return time.Time{}
	}
	return time.Unix(int64(math.Floor(seconds)), 0)
}

// OptionalDate returns a date, or the zero time if it is absent.
func (c *Claims) OptionalDate(name string) time.Time {
	if c.Raw(name) == nil {
		return time.Time{}
	}
	return c.Date(name)
}

// OptionalCount returns a whole number, or 0 if it is absent.
func (c *Claims) OptionalCount(name string) int64 {
	if c.Raw(name) == nil {
		return 0
	}
	n, err := strconv.ParseInt(string(c.Raw(name)), 10, 64)
	c.OK = c.OK && err == nil && n >= 0
	return n
}

// bytes returns a member in base64url (RFC 7518 section 2), which must be present.
func (c *Claims) bytes(name string) []byte {
	raw, err := Base64.DecodeString(c.Text(name))
	c.OK = c.OK && err == nil
	return raw
}

// Audience returns aud, a string or a list of at least one (RFC 7519 section 4.1.3).
func (c *Claims) Audience() []string {
	raw := c.Raw("aud")
	if !bytes.HasPrefix(raw, []byte("[")) {
		if one := c.Text("aud"); one != "" {
			return []string{one}
		}
		return nil
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil || len(items) == 0 {
		c.OK = false
		return nil
	}
	list := make([]string, len(items))
	for i, item := range items {
		var ok bool
		if list[i], ok = decodeText(item); !ok || list[i] == "" {
			c.OK = false
			return nil
		}
	}
	return list
}

// decodeText returns a string of a valid JSON text in UTF-8.
func decodeText(raw json.RawMessage) (s string, ok bool) {
	if n := len(raw); n >= 2 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : n-1]), true
	}
	ok = len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil
	return s, ok
}
