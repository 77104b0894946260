package compose

import (
	"fmt"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// branch is an object of the body, with its members in their order, or a value.
type branch struct {
	names []string
	below map[string]*branch
	value string // as a template of JSON; "" for an object
}

// put gives a member of the object a value.
func (b *branch) put(name, value string) error {
	path := splice.Pointer{name}
	if strings.HasPrefix(name, "/") {
		var err error
		if path, err = splice.ParsePointer(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(path) > maxDepth {
		return fmt.Errorf("%s: %d levels, expected at most %d", name, len(path), maxDepth)
	}
	last := len(path) - 1
	if one, ok := strings.CutSuffix(path[last], "[]"); ok {
		path[last], value = one, "["+value+"]"
	}
	for i, step := range path {
		if !memberName.MatchString(step) || !hasWord.MatchString(step) {
			return fmt.Errorf("invalid name '%s', expected letters, digits and _ $ @ . : ~ * ! - such as id, or a pointer such as /arguments/ids", name)
		}
		next := b.below[step]
		switch {
		case next != nil && i == last:
			return fmt.Errorf("%s is given twice", strings.TrimSuffix(name, "[]"))
		case next != nil && next.value != "":
			return fmt.Errorf("%s: %s has a value, expected a member with others inside", name, step)
		case next == nil:
			next = new(branch)
			if b.below == nil {
				b.below = make(map[string]*branch)
			}
			b.names, b.below[step] = append(b.names, step), next
		}
		b = next
	}
	b.value = value
	return nil
}

// text is the branch as a template of JSON.
func (b *branch) text() string {
	if b.value != "" {
		return b.value
	}
	var text strings.Builder
	for i, name := range b.names {
		if i > 0 {
			text.WriteByte(',')
		}
		text.Write(splice.Quote(name))
		text.WriteString(":" + b.below[name].text())
	}
	return "{" + text.String() + "}"
}
