package restapi

import (
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// end ends what is between the client and us (RFC 9110 section 7.6.1), before the gateway
// adds fields of its own to h: a proxy behind it would take away those that the client's
// Connection names. Nor does anything of the client's stay that could make the upstream
// carry out another request than the one that was declared.
func end(h http.Header) {
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
