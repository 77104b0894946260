package request

import (
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// EndHop removes the header fields that belong to the connection with the client (RFC 9110
// section 7.6.1). It comes before the gateway adds fields of its own: a proxy behind it would
// remove those that the client's Connection names. It also removes fields by which a client could
// make the API carry out another request than the declared one.
func EndHop(h http.Header) {
	upgrade := false
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			name = http.CanonicalHeaderKey(strings.TrimSpace(name))
			if name == "Upgrade" {
				upgrade = true
				continue
			}
			delete(h, name)
		}
	}
	delete(h, "Connection")
	if httpx.KeepHTTP(h); upgrade && len(h["Upgrade"]) > 0 {
		h["Connection"] = []string{"Upgrade"}
	}
	for name := range h {
		if resource.Overrides(name) {
			delete(h, name)
		}
	}
}
