package envelope

import (
	"bytes"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// unequal is a text that is not held completely or cannot be decoded: it exists, but equals no
// value of a condition.
var unequal = splice.Scalar{Long: true}

// wordsOf returns what conditions with the pointer "" compare if a response is not JSON: its
// text without surrounding white space. cut says that the text continues.
func wordsOf(text []byte, cut bool) *splice.Scalar {
	if text = bytes.TrimSpace(text); cut || len(text) > maxValue {
		return &unequal
	}
	return &splice.Scalar{Kind: splice.String, Text: string(text)}
}

// JudgesText reports whether a condition applies to the whole text of a response that is not
// JSON and has the given header.
func (c *Config) JudgesText(h http.Header) bool {
	if c.dialect == nil || !c.dialect.text {
		return false
	}
	media, _ := MediaType(h)
	return IsJSON(media) || MaybeJSON(media)
}
