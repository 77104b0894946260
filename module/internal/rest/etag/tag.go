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

// maxOpaque is the length of an upstream's tag that goes into one of ours. A longer one is
// digested, and cannot be given back to the upstream.
const maxOpaque = 128

// weakMark begins the text of each weak tag of ours.
const weakMark = "w"

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

// Derive makes the tag of a translated answer out of the upstream's. It is as strong: the
// translation makes the same bytes of the same bytes. A weak tag has another text than a strong one.
// It reports false for what is no tag.
func Derive(upstream, plan string) (Tag, bool) {
	t, rest, ok := cut(upstream)
	if !ok || rest != "" {
		return Tag{}, false
	}
	mark := ""
	if t.Weak {
		mark = weakMark
	}
	if len(t.Opaque) > maxOpaque {
		sum := sha256.Sum256([]byte(t.Opaque))
		return Tag{t.Weak, mark + "d." + plan + "." + base64.RawURLEncoding.EncodeToString(sum[:18])}, true
	}
	return Tag{t.Weak, mark + "u." + plan + "." + base64.RawURLEncoding.EncodeToString([]byte(t.Opaque))}, true
}

// Underlying is the upstream's tag that t was derived from under the same plan.
func (t Tag) Underlying(plan string) (Tag, bool) {
	text, weak := strings.CutPrefix(t.Opaque, weakMark)
	encoded, ok := strings.CutPrefix(text, "u."+plan+".")
	if !ok {
		return Tag{}, false
	}
	opaque, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil || strings.ContainsFunc(string(opaque), notOpaque) || len(opaque) > maxOpaque {
		return Tag{}, false
	}
	return Tag{weak, string(opaque)}, true
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
