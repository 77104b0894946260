package operation

import (
	"fmt"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// KeyHeader is the field with a client's key (draft-ietf-httpapi-idempotency-key-header).
const KeyHeader = "Idempotency-Key"

// KeyText returns the text of a key. It may stand in quotes, as the draft has it, or without, as
// most clients send it.
func KeyText(value string) (text string, quoted bool) {
	value = strings.TrimSpace(value)
	if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
		return value[1 : len(value)-1], true
	}
	return value, false
}

// APIKey returns the key that the API gets instead of the client's when the call makes it carry out
// a match, "" if the client sent none. It is the same in each repetition, and another one for each
// caller with a token, since all may be one to the API, which would answer one user with what it
// did for another; and for each method, address and version. It is a UUID, because some APIs
// take no other text for a key.
func (c *Call) APIKey(m routes.Match) string {
	text, quoted := KeyText(c.Request.Header.Get(KeyHeader))
	if text == "" {
		return ""
	}
	client, subject, version := "", "", c.VersionPrefix
	if c.Access != nil {
		client, subject = c.Access.Client, c.Access.Subject
	}
	if version == "" { // either the prefix or the media type names it
		version = c.MediaType
	}
	id := uuid(secret.Sum("gatehouse idempotency upstream",
		[]byte(client), []byte(subject), []byte(m.Operation.Method), []byte(version), []byte(m.Address()), []byte(text)))
	if quoted {
		return `"` + id + `"`
	}
	return id
}

// NewKey returns a key that nobody else has.
func NewKey() string { return uuid(secret.Bytes(16)) }

// uuid returns a UUID with the first bits of a digest, or with random ones. Its version is 4, because many APIs take no other; RFC 9562 has
// version 8 for digests, which uuid in Node.js refuses before its version 10.
func uuid(sum []byte) string {
	b := [16]byte(sum)
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
