package resource

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// readsByBody reports whether the upstream takes the parameters of a read in a body.
func (o *Operation) readsByBody() bool { return o.Method == http.MethodGet && o.as != "" }

// ReadsByPost reports whether the operation reads, and the upstream is asked with a POST. Then
// validators, conditions and ranges mean nothing to it: RFC 9110 has them for GET, and an
// If-None-Match that holds would be 412.
func (o *Operation) ReadsByPost() bool {
	return o.Method == http.MethodGet && o.method != http.MethodGet
}

// unconditional are the fields of the client's that a read by POST goes without.
var unconditional = []string{"Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since"}

// ask writes the body of a read: what the gateway places, and the parameters that have no place
// in it by their names.
func (m Match) ask(up *Upstream) *envelope.Refusal {
	o := m.Operation
	up.Replaced = true
	up.Set["Content-Encoding"] = nil
	placed, refused := m.place(up.parameters)
	if refused != nil {
		return refused
	}
	if _, refused := o.shape.encodeQuery(up.parameters); refused != nil {
		return refused
	}
	rest := up.parameters
	if o.placed != nil {
		rest = maps.Clone(rest)
		for _, name := range o.placed.Parameters() {
			delete(rest, name)
		}
	}
	if o.as == "json" {
		up.Set.Set("Content-Type", "application/json")
		up.Body = o.shape.encodeJSON(append(placed, asMembers(o, rest)...).json())
		return nil
	}
	media, body, refused := placed.form(o.as, freeForm, o.shape.encode)
	if refused != nil {
		return refused
	}
	rest, _ = o.shape.encodeQuery(rest)
	if len(body) > 0 && len(rest) > 0 {
		body = append(body, '&')
	}
	up.Set.Set("Content-Type", media)
	up.Body = append(body, rest.Encode()...)
	return nil
}

// asMembers writes parameters as members of JSON: numbers of pages and elements as numbers, all
// others as texts.
func asMembers(o *Operation, parameters url.Values) (all members) {
	var numbers []string
	if o.Kind == List {
		numbers = o.Resource.List.Numbers()
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		text := parameters.Get(name)
		value := quoted(text)
		if slices.Contains(numbers, name) {
			value = []byte(text)
		}
		all = append(all, validate.Member{Name: name, Value: json.RawMessage(value)})
	}
	return all
}

// Onward is the request for the upstream's next answer to a list that is followed: first with
// the parameters that lead there.
func (m Match) Onward(first Upstream, next map[string]string) (Upstream, *envelope.Refusal) {
	values := make(url.Values, len(next))
	for name, value := range next {
		values.Set(name, value)
	}
	if m.Operation.readsByBody() {
		first.parameters = maps.Clone(first.parameters)
		maps.Copy(first.parameters, values)
		refused := m.ask(&first)
		return first, refused
	}
	if first.RawQuery != "" && len(values) > 0 {
		first.RawQuery += "&"
	}
	first.RawQuery += values.Encode()
	return first, nil
}

// checkAs checks that the upstream's request has a body of the kind that is declared.
func checkAs(o *Operation) error {
	switch {
	case o.as == "":
	case o.Method == http.MethodGet && o.as != "form" && o.as != "json":
		return fmt.Errorf("as %s: the parameters of a GET are not sent so, expected form or json", o.as)
	case o.Method == http.MethodGet && o.method != http.MethodPost:
		return fmt.Errorf("as %s: a GET has no body, expected POST in front of the API's address, and the parameters are sent in the body of that", o.as)
	case o.Method == http.MethodDelete && o.as == "multipart":
		return fmt.Errorf("as %s: a %s has no such body, expected none of form, json, multipart and xml", o.as, o.Method)
	}
	return nil
}
