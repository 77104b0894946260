package etag

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// use names the key that seals the upstream's tags. It is the same on all nodes.
const use = "rest etag"

// Maker makes the tags of one translation out of the upstream's, and recovers these.
type Maker struct {
	// Plan is that of the translation. It also names the resource if the upstream's tags are sealed: otherwise equal
	// tags would show that two resources are equal, also in what clients do not see.
	Plan string
	// Hide says that clients do not see all that the upstream's tag may be made of. If it is a digest of the body, they
	// could guess from it what was removed.
	Hide bool
	// Keys seal the tags that are to be hidden. Nil: those never reach a client.
	Keys *secret.Keys
}

// maxOpaque is the length of an upstream's tag that goes into one of ours. A longer one is
// digested, and cannot be given back to the upstream.
const maxOpaque = 128

// The text of a tag of ours begins with weakMark if it is weak, and one that says what is in it.
const (
	weakMark     = "w"
	ofTag        = "u." // the upstream's tag
	ofDigest     = "d." // its digest
	ofSealed     = "s." // the upstream's tag, sealed
	ofSealedHash = "h." // its digest, sealed
)

// Derive makes the tag of a translated response out of the upstream's. It is as strong: the
// translation makes the same bytes of the same bytes. A weak tag has another text than a strong one.
// It reports false for what is no tag, and for one that cannot be hidden.
func (m *Maker) Derive(upstream string) (Tag, bool) {
	t, ok := ParseTag(upstream)
	if !ok || m.Hide && m.Keys == nil {
		return Tag{}, false
	}
	content, mark, sealed := t.Opaque, ofTag, ofSealed
	if len(content) > maxOpaque {
		sum := sha256.Sum256([]byte(content))
		content, mark, sealed = string(sum[:18]), ofDigest, ofSealedHash
	}
	if m.Hide {
		mark = sealed
	}
	if t.Weak {
		mark = weakMark + mark
	}
	return Tag{t.Weak, m.write(mark, content)}, true
}

// write writes the text of a tag. Everything in front of the sealed part is bound to it.
func (m *Maker) write(mark, content string) string {
	head := mark + m.Plan + "."
	if m.Hide {
		return head + m.Keys.SealRepeatable(use, []byte(content), []byte(head))
	}
	return head + base64.RawURLEncoding.EncodeToString([]byte(content))
}

// read is the opposite of write.
func (m *Maker) read(mark, text string) (content string, ok bool) {
	head := mark + m.Plan + "."
	encoded, ok := strings.CutPrefix(text, head)
	if !ok || m.Hide && m.Keys == nil {
		return "", false
	}
	var raw []byte
	var err error
	if m.Hide {
		raw, err = m.Keys.Open(use, encoded, []byte(head))
	} else {
		raw, err = base64.RawURLEncoding.Strict().DecodeString(encoded)
	}
	return string(raw), err == nil
}

// Underlying is the upstream's tag that t was derived from. It reports false for a tag that Derive would not make
// today: one from under an older secret is answered with the whole resource and its new tag.
func (m *Maker) Underlying(t Tag) (Tag, bool) {
	weak, mark := strings.HasPrefix(t.Opaque, weakMark), ofTag
	if m.Hide {
		mark = ofSealed
	}
	if weak {
		mark = weakMark + mark
	}
	opaque, ok := m.read(mark, t.Opaque)
	if !ok || strings.ContainsFunc(opaque, notOpaque) {
		return Tag{}, false
	}
	under := Tag{weak, opaque}
	again, ok := m.Derive(under.String())
	return under, ok && again.Opaque == t.Opaque
}

// UnderlyingAll are the upstream's tags behind those of a list.
func (m *Maker) UnderlyingAll(l List) (under []Tag) {
	for _, t := range l.Tags {
		if u, ok := m.Underlying(t); ok {
			under = append(under, u)
		}
	}
	return under
}

// Renew returns the list with those of its tags that were sealed under an older secret as they are now.
func (m *Maker) Renew(l List) List {
	if !m.Hide || m.Keys == nil {
		return l
	}
	tags := make([]Tag, len(l.Tags))
	for i, t := range l.Tags {
		tags[i] = Tag{t.Weak, m.renewed(t.Opaque)}
	}
	return List{l.Any, tags}
}

func (m *Maker) renewed(opaque string) string {
	for _, coding := range codings {
		text, ok := strings.CutSuffix(opaque, coding)
		for _, mark := range []string{ofSealed, ofSealedHash, weakMark + ofSealed, weakMark + ofSealedHash} {
			if content, authentic := m.read(mark, text); ok && authentic {
				return m.write(mark, content)
			}
		}
	}
	return opaque
}
