package restapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// Protected is a member that clients must not send.
type Protected struct{ Resource, Member string }

// WithoutList returns the resources of an api_rest that keep a member from clients but let them send any other, with the first such member
// of each: the API may know the protected one by a further name.
func WithoutList(h *REST) (found []Protected) {
	all := slices.Clone(h.Resources)
	for i := range h.Versions {
		all = append(all, h.Versions[i].Resources...)
	}
	for i := range all {
		r := &all[i]
		p := Protected{r.Path, protected(r, h.Fixed)}
		if p.Member != "" && takesBodies(r) && !listsMembers(r) && !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}

// protected returns a member that clients must not send, "" if there is none.
func protected(r *resource.Resource, shared []resource.Fixed) string {
	for _, rule := range r.Validate {
		if rule.Readonly && rule.Field != "*" {
			return rule.Field
		}
	}
	for _, f := range slices.Concat(r.Fixed, shared) {
		if f.In == supply.Body {
			return f.Name
		}
	}
	return ""
}

// listsMembers reports whether clients may send only what is declared. A schema counts, whatever it permits.
func listsMembers(r *resource.Resource) bool {
	return r.Schema != nil || slices.ContainsFunc(r.Validate, func(rule validate.Rule) bool { return rule.Field == "*" })
}

// takesBodies reports whether a body of a client is sent to the API as it is, or with other names. A call lists what it takes of the body,
// unless that is all of it.
func takesBodies(r *resource.Resource) bool {
	return len(r.Routes) == 0 || slices.ContainsFunc(r.Routes, func(rt resource.Route) bool {
		return (rt.Method == http.MethodPost || rt.Method == http.MethodPut || rt.Method == http.MethodPatch) &&
			(rt.RPC == nil || strings.Contains(rt.RPC.Params, "{body}"))
	})
}
