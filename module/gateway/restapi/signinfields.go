package restapi

import (
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// signInFields are the header fields that the gateway sends with every request to an API, and so
// with those that sign in too: an API may want a key, or a password, before it gives a session. One
// that says who calls is left out, since nobody does.
func (h *REST) signInFields() (fields []supply.Param) {
	for _, p := range h.jobParams() {
		if p.In == supply.Header && !strings.Contains(p.Value, "{http.") {
			fields = append(fields, p)
		}
	}
	return fields
}

// addFields fills in the header fields that go with a step, where the step has none of that name.
func (s *signIn) addFields(header http.Header) error {
	for _, p := range s.fields {
		if len(header.Values(p.Name)) > 0 {
			continue
		}
		value, err := fill(p.Value)
		if err != nil {
			return err
		}
		p.Value = value
		if err := supply.CheckValue(p); err != nil {
			return err
		}
		header.Set(p.Name, value)
	}
	return nil
}
