package envelope

import (
	"bytes"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// unequal is a text that is not held as a whole, or cannot be read: it is there, and equals no
// value of a condition.
var unequal = splice.Scalar{Long: true}

// wordsOf is what conditions with the pointer "" compare where an answer is not JSON: its text
// without the white space around it. cut says that it goes on.
func wordsOf(text []byte, cut bool) *splice.Scalar {
	if text = bytes.TrimSpace(text); cut || len(text) > maxValue {
		return &unequal
	}
	return &splice.Scalar{Kind: splice.String, Text: string(text)}
}

// JudgesText reports whether a condition is asked of the whole text of an answer with the given
// header that is not JSON.
func (c *Config) JudgesText(h http.Header) bool {
	if c.dialect == nil || !c.dialect.text {
		return false
	}
	media, _ := MediaType(h)
	return IsJSON(media) || MaybeJSON(media)
}
