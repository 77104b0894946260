package resource

import "github.com/gatehouse/gatehouse/module/internal/rest/splice"

// Deferred is the answer to the operation where no client waits for it: the part of it at
// a pointer, the resource where that is "", in our names and words; a value that is no object is given as it is. It has no links: who
// will read it, and what they may do then, is not known.
func (m Match) Deferred(at string) (*Answer, error) {
	s := m.Operation.shape
	root, err := splice.ParsePointer(at)
	if err != nil {
		return nil, err
	}
	if at == "" {
		root = s.itemAt[m.Operation.Kind]
	}
	plan, err := splice.Compile(s.places.edit(splice.Config{Root: root, Any: at != ""}))
	return Part(plan), err
}
