package routes

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/fieldnames"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/internal/rest/rpc"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// Operation is a method on a declared path.
type Operation struct {
	Kind   resource.Kind
	Method string // the client's
	Path   string // the client's, with placeholders, without their expressions
	// Resource is what the operation belongs to.
	Resource *resource.Resource
	// Rules are the constraints on bodies.
	Rules *validate.Set
	// Item is, for Batch, the operation on one item.
	Item *Operation
	// Requests maps the client's requests to the upstream's.
	Requests *mapping.Mapping
	// Answers says what becomes of the upstream's successful answers.
	Answers *answer.Spec

	names   *fieldnames.Names
	pattern pathpattern.Pattern
}

// Expressions returns the regular expressions that the values of the path's placeholders match whole, in
// the order of the placeholders.
func (o *Operation) Expressions() []string { return o.pattern.Expressions() }

// Follows reports whether the operation is a list that the upstream gives in several answers, which pages
// are cut out of.
func (o *Operation) Follows() bool { return o.Kind == resource.List && o.Resource.List.Follows() }

// Dialect completes how an upstream reports failures with what the resource declares for the operation.
// The result is prepared.
func (o *Operation) Dialect(shared envelope.Config) (*envelope.Config, error) {
	for _, f := range shared.FailWhen {
		if err := o.Resource.CheckCondition(f); err != nil {
			return nil, err
		}
	}
	var own []envelope.FailWhen
	for _, f := range o.Resource.FailWhen {
		if f.On == "" || f.On == o.Kind {
			own = append(own, f.FailWhen)
		}
	}
	shared.Field, shared.Passes = o.names.OursInAnswers, o.Answers.Permits
	if o.Kind == resource.List && len(o.Resource.List.EmptyWhen) > 0 {
		shared.Empty = &envelope.EmptyWhen{When: o.Resource.List.EmptyWhen, Body: o.Answers.Shape.EmptyList()}
	}
	faults := o.faults()
	if len(own) == 0 && shared.Empty == nil && len(faults) == 0 {
		return &shared, nil
	}
	shared.FailWhen = slices.Concat(own, shared.FailWhen, faults)
	return &shared, shared.Prepare()
}

// faults returns the conditions under which an answer to a call by RPC is a failure. They follow all
// others; see [rpc.Fault.Document].
func (o *Operation) faults() (all []envelope.FailWhen) {
	if !o.Requests.ByRPC() {
		return nil
	}
	for _, status := range []int{http.StatusBadGateway, http.StatusUnprocessableEntity} {
		all = append(all, envelope.FailWhen{Pointer: "/" + rpc.Marker, Op: "==", Values: []string{strconv.Itoa(status)}, Status: status})
	}
	return all
}
