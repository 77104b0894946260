package validate

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Described are the schemas of files, said in the words of JSON Schema 2020-12 whatever
// they were written in. One that is referred to has a name, and stands in Named once, so
// that it may refer to itself.
type Described struct {
	// Named are the schemas that are referred to.
	Named map[string]any
	// Ref is the reference to one of them.
	Ref func(name string) string

	names map[place]string
	nodes int // of the schema at hand
}

// place is a schema of a file. partial is the form of it that a PATCH is held to.
type place struct {
	location string
	partial  bool
}

// A schema with all that it refers to is left out of a description above these: files may
// have 16 MiB, and a description is read by people and programs in one piece.
const (
	maxNodes     = 5000
	maxDescribed = 256 << 10
)

// Body describes what the schema's file says about a body; partial, about that of a PATCH.
// It is nil when there is no file, and when it is too large to be shown.
func (d *Described) Body(s *Set, partial bool) any {
	return d.all(s, func(file *schema) any {
		if partial {
			return d.refer(file.partial, true)
		}
		return d.refer(file.whole, false)
	})
}

// Members describes the members of the outermost level as answers have them, but for those
// that are never answered (writeOnly): by their names and what is written about them. The
// schema judges requests alone, and what is stored may be older.
func (d *Described) Members(s *Set) map[string]any {
	members := make(map[string]any)
	if d.all(s, func(file *schema) any { d.members(members, file.whole, 0); return members }) == nil {
		return nil
	}
	return members
}

// all describes everything, or nothing.
func (d *Described) all(s *Set, describe func(*schema) any) any {
	if s == nil || s.schema == nil {
		return nil
	}
	if d.names == nil {
		d.names = make(map[place]string)
	}
	named, names := maps.Clone(d.Named), maps.Clone(d.names)
	d.nodes = 0
	described := describe(s.schema)
	text, err := json.Marshal([]any{described, added(d.Named, named)})
	if err != nil || d.nodes > maxNodes || len(text) > maxDescribed {
		maps.DeleteFunc(d.Named, func(name string, _ any) bool { return named[name] == nil })
		d.names = names
		return nil
	}
	return described
}

func added(after, before map[string]any) map[string]any {
	more := make(map[string]any)
	for name, s := range after {
		if before[name] == nil {
			more[name] = s
		}
	}
	return more
}

// shownDepth is how deep members are described in answers.
const shownDepth = 4

func (d *Described) members(to map[string]any, s *jsonschema.Schema, depth int) {
	if s == nil || depth > maxReferences {
		return
	}
	for _, part := range append([]*jsonschema.Schema{s.Ref}, s.AllOf...) {
		d.members(to, part, depth+1)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if property := s.Properties[name]; !property.WriteOnly {
			to[name] = d.shown(property, 1)
		}
	}
}

// shown is what is written about a value, and about the members in it.
func (d *Described) shown(s *jsonschema.Schema, depth int) map[string]any {
	to := make(map[string]any)
	if d.nodes++; d.nodes > maxNodes {
		return to // it is left out as a whole
	}
	for at, n := s, 0; at != nil && n < maxReferences; at, n = at.Ref, n+1 {
		for word, value := range annotations(at) {
			if to[word] == nil {
				to[word] = value
			}
		}
		if depth < shownDepth {
			d.inside(to, at, depth)
		}
	}
	return to
}

// inside adds the members of an object, or of the elements of an array.
func (d *Described) inside(to map[string]any, s *jsonschema.Schema, depth int) {
	members, _ := to["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if property := s.Properties[name]; !property.WriteOnly && members[name] == nil {
			if members == nil {
				members = make(map[string]any)
				to["properties"] = members
			}
			members[name] = d.shown(property, depth+1)
		}
	}
	if s.Items2020 != nil && to["items"] == nil {
		to["items"] = d.shown(s.Items2020, depth+1)
	}
}

// refer is a reference to a schema, which is written where that has not been done.
func (d *Described) refer(s *jsonschema.Schema, partial bool) map[string]any {
	at := place{s.Location, partial}
	name, known := d.names[at]
	if !known {
		name = d.name(s, partial)
		d.names[at] = name
		d.Named[name] = true // until it is written: it may refer to itself
		d.Named[name] = d.write(s, partial)
	}
	return map[string]any{"$ref": d.Ref(name)}
}

// name is what stands last in the schema's place.
func (d *Described) name(s *jsonschema.Schema, partial bool) string {
	file, fragment, _ := strings.Cut(s.Location, "#")
	last := path.Base(fragment)
	if strings.Trim(fragment, "/") == "" {
		last = strings.TrimSuffix(path.Base(file), path.Ext(file))
	}
	base := Identifier(last)
	if base == "" {
		base = "Schema"
	}
	if partial {
		base += "Patch"
	}
	return Unused(d.Named, base)
}

// Unused is a name, with a number behind it where it is taken.
func Unused(taken map[string]any, name string) string {
	free := name
	for n := 2; taken[free] != nil; n++ {
		free = fmt.Sprintf("%s%d", name, n)
	}
	return free
}

// Identifier makes a name such as StudentFriends of a text; "" of one without letters and
// digits of ASCII.
func Identifier(text string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9')
	}) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
