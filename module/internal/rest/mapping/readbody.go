package mapping

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// buildReadBody builds the body of a read: the members that the gateway places, and the parameters that have no
// placeholder in them.
func (req request) buildReadBody(up *Upstream) *envelope.Refusal {
	up.Replaced = true
	up.Set["Content-Encoding"] = nil
	placed, refused := req.placedMembers(up.parameters)
	if refused != nil {
		return refused
	}
	if _, refused := req.text.encodeQuery(up.parameters); refused != nil {
		return refused
	}
	rest := up.parameters
	if req.placed != nil {
		rest = maps.Clone(rest)
		for _, name := range req.placed.Parameters() {
			delete(rest, name)
		}
	}
	if req.Route.As == "json" {
		up.Set.Set("Content-Type", "application/json")
		up.Body = req.text.encodeJSON(append(placed, parameterMembers(req.Mapping, rest)...).json())
		return nil
	}
	media, body, refused := placed.form(req.Route.As, freeForm, req.text.encode)
	if refused != nil {
		return refused
	}
	rest, _ = req.text.encodeQuery(rest)
	if len(body) > 0 && len(rest) > 0 {
		body = append(body, '&')
	}
	up.Set.Set("Content-Type", media)
	up.Body = append(body, rest.Encode()...)
	return nil
}

// parameterMembers converts parameters to JSON members: page and element numbers to numbers, all others to strings.
func parameterMembers(m *Mapping, parameters url.Values) (all members) {
	var numbers []string
	if m.Kind == resource.List {
		numbers = m.Resource.List.Numbers()
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		value := json.RawMessage(parameters.Get(name))
		if !slices.Contains(numbers, name) {
			value = splice.Quote(string(value))
		}
		all = append(all, validate.Member{Name: name, Value: value})
	}
	return all
}

// Next returns the request for the next part of a list that the upstream gives in several answers: the first request
// with the parameters of the next part.
func (m *Mapping) Next(values []string, first Upstream, next map[string]string) (Upstream, *envelope.Refusal) {
	parameters := make(url.Values, len(next))
	for name, value := range next {
		parameters.Set(name, value)
	}
	if m.readsByBody() {
		first.parameters = maps.Clone(first.parameters)
		maps.Copy(first.parameters, parameters)
		refused := request{m, values}.buildReadBody(&first)
		return first, refused
	}
	first.addQuery(parameters)
	return first, nil
}

// checkAs returns an error if the upstream's request cannot have the declared kind of body.
func checkAs(m *Mapping) error {
	switch {
	case m.Route.As == "":
	case m.Route.Method == http.MethodGet && m.Route.As != "form" && m.Route.As != "json":
		return fmt.Errorf("as %s: the parameters of a GET are not sent so, expected form or json", m.Route.As)
	case m.Route.Method == http.MethodGet && m.upstream != http.MethodPost:
		return fmt.Errorf("as %s: a GET has no body, expected POST in front of the API's address, and the parameters are sent in the body of that", m.Route.As)
	case m.Route.Method == http.MethodDelete && m.Route.As == "multipart":
		return fmt.Errorf("as %s: a %s has no such body, expected none of form, json, multipart and xml", m.Route.As, m.Route.Method)
	}
	return nil
}
