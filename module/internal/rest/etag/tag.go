package etag

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// Tag is an entity tag.
type Tag struct {
	Weak   bool
	Opaque string // what stands between the quotes
}

// String is the tag as a header has it.
func (t Tag) String() string {
	if t.Weak {
		return `W/"` + t.Opaque + `"`
	}
	return `"` + t.Opaque + `"`
}

// Plan identifies what is done to an answer between the upstream and the client: answers
// of one state of the upstream's that look different have different tags.
func Plan(parts ...string) string {
	sum := sha256.New()
	for _, p := range parts {
		_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		_, _ = sum.Write([]byte(p))
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:9])
}

// ParseTag reads a field that has one tag.
func ParseTag(text string) (Tag, bool) {
	t, rest, ok := cut(text)
	return t, ok && rest == ""
}

// OfBody is the tag of an answer whose upstream gives none that is strong.
func OfBody(body []byte) Tag {
	sum := sha256.Sum256(body)
	return Tag{Opaque: "b." + base64.RawURLEncoding.EncodeToString(sum[:18])}
}

// notOpaque reports the characters that a tag cannot have. Those above 0x7f could, but
// would not survive everywhere.
func notOpaque(c rune) bool { return c < 0x21 || c == '"' || c > 0x7e }

// cut reads a tag from the beginning of a text.
func cut(text string) (t Tag, rest string, ok bool) {
	text = strings.TrimLeft(text, " \t")
	text, t.Weak = strings.CutPrefix(text, "W/")
	text, ok = strings.CutPrefix(text, `"`)
	if !ok {
		return Tag{}, "", false
	}
	t.Opaque, rest, ok = strings.Cut(text, `"`)
	return t, strings.TrimLeft(rest, " \t"), ok && !strings.ContainsFunc(t.Opaque, notOpaque)
}
