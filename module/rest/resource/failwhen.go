package resource

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// FailWhen is a condition under which a success of the upstream is a failure, for the
// operations of a resource.
type FailWhen struct {
	// The kind of operation that it is about: `list`, `read`, `create`, `replace`, `update`,
	// `delete` or `action`. Default: all.
	On Kind `json:"on,omitempty"`
	envelope.FailWhen
}

// AnsweredKinds are the kinds of operations that an upstream answers. Batches are answered
// here.
var AnsweredKinds = []Kind{List, Read, Create, Replace, Update, Delete, Action}

func (r *Resource) checkFailWhen() error {
	for _, f := range r.FailWhen {
		if f.On != "" && !slices.Contains(AnsweredKinds, f.On) {
			return fmt.Errorf("fail_when %s: expected list, read, create, replace, update, delete or action", f.On)
		}
		if err := f.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Dialect completes how an upstream reports failures with what the resource says of the
// operation. The result is prepared.
func (o *Operation) Dialect(shared envelope.Config) (*envelope.Config, error) {
	for _, f := range shared.FailWhen {
		if err := o.Resource.canAsk(f); err != nil {
			return nil, err
		}
	}
	var own []envelope.FailWhen
	for _, f := range o.Resource.FailWhen {
		if f.On == "" || f.On == o.Kind {
			own = append(own, f.FailWhen)
		}
	}
	shared.Field, shared.Passes = o.Field, o.permits
	if o.Kind == List && len(o.Resource.List.EmptyWhen) > 0 {
		shared.Empty = &envelope.EmptyWhen{When: o.Resource.List.EmptyWhen, Body: o.shape.emptyList()}
	}
	faults := o.faults()
	if len(own) == 0 && shared.Empty == nil && len(faults) == 0 {
		return &shared, nil
	}
	shared.FailWhen = slices.Concat(own, shared.FailWhen, faults)
	return &shared, shared.Prepare()
}

// canAsk returns what is wrong with a condition on the answers of all resources, if it cannot be
// asked of those of this one.
func (r *Resource) canAsk(f envelope.FailWhen) error {
	if r.FromXML == nil || f.Header != "" || f.NotJSON {
		return nil
	}
	return fmt.Errorf("from xml: the fail_when %s of `errors` is not asked of answers in XML, expected it in the resources that answer in JSON", cmp.Or(f.Pointer, `""`))
}

// CheckShared returns what is wrong with a condition on the answers of all resources, of which
// these and those nested in them are some.
func CheckShared(f envelope.FailWhen, resources []Resource) error {
	for i := range resources {
		r := &resources[i]
		if err := r.canAsk(f); err != nil {
			return fmt.Errorf("resource %s: %w", r.Path, err)
		}
		if err := CheckShared(f, r.Nested); err != nil {
			return err
		}
	}
	return nil
}
