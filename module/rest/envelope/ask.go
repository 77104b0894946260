package envelope

import (
	"net/http"
	"strings"
)

// Ask leaves in a request's Accept-Encoding what FailWhen can look into: a client must not
// choose the form in which a failure passes for a success. Without conditions it stays.
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
