package resource

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// FailWhen is a condition under which a successful answer of the upstream is a failure, for the
// operations of a resource.
type FailWhen struct {
	// The kind of operation that it is about: `list`, `read`, `create`, `replace`, `update`,
	// `delete` or `action`. Default: all.
	On Kind `json:"on,omitempty"`
	envelope.FailWhen
}

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

// CheckCondition returns an error if a condition on the answers of all resources cannot be evaluated on
// the answers of this one.
func (r *Resource) CheckCondition(f envelope.FailWhen) error {
	if r.FromXML == nil || f.Header != "" || f.NotJSON {
		return nil
	}
	return fmt.Errorf("from xml: the fail_when %s of `errors` is not asked of answers in XML, expected it in the resources that answer in JSON", cmp.Or(f.Pointer, `""`))
}

// All iterates over resources and those nested in them.
func All(resources []Resource) iter.Seq[*Resource] {
	return func(yield func(*Resource) bool) { all(resources, yield) }
}

func all(resources []Resource, yield func(*Resource) bool) bool {
	for i := range resources {
		if !yield(&resources[i]) || !all(resources[i].Nested, yield) {
			return false
		}
	}
	return true
}

// RefusesNonJSON reports whether one of the resource's own conditions makes a failure of answers
// that are not JSON.
func (r *Resource) RefusesNonJSON() bool {
	return slices.ContainsFunc(r.FailWhen, func(f FailWhen) bool { return f.NotJSON })
}
