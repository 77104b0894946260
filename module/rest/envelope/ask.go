package envelope

import (
	"net/http"
	"strings"
)

// Ask removes from a request's Accept-Encoding the codings that FailWhen cannot decode: a client
// must not be able to choose a coding in which a failure passes for a success. Without
// conditions the header field is unchanged.
func (c *Config) Ask(h http.Header) {
	if c.dialect == nil || !c.dialect.bodies {
		return
	}
	var readable []string
	for _, line := range h["Accept-Encoding"] {
		for item := range strings.SplitSeq(line, ",") {
			name, _, _ := strings.Cut(item, ";")
			if name = strings.TrimSpace(name); name != "" && decodes(http.Header{"Content-Encoding": {name}}) {
				readable = append(readable, strings.TrimSpace(item))
			}
		}
	}
	if len(readable) == 0 {
		readable = []string{"identity"} // no field at all permits every coding
	}
	h.Set("Accept-Encoding", strings.Join(readable, ", "))
}
