package restapi

import (
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// signInFields are the header fields that the gateway sends with every request to an API, and so
// with those of a sign-in: an API may want a key, or a password, before it gives a session. A field
// that names the client is left out, since there is none.
func signInFields(fixed []resource.Fixed) (fields []supply.Param) {
	for _, p := range jobParams(fixed) {
		if p.In == supply.Header && !strings.Contains(p.Value, "{http.") {
			fields = append(fields, p)
		}
	}
	return fields
}
