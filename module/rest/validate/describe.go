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

// Described collects schemas of files, written in JSON Schema 2020-12 whatever their own
// dialect. Schemas that are referred to have a name and appear in Named once, so that they may
// be recursive.
type Described struct {
	// Named are the schemas that others refer to.
	Named map[string]any
	// Ref returns the reference to one of them.
	Ref func(name string) string

	names map[place]string
	nodes int // of the current schema
}

// place is a schema of a file. partial selects the variant for PATCH.
type place struct {
	location string
	partial  bool
}

// A schema that exceeds these bounds together with all it refers to is omitted from the
// description: files may have 16 MiB, and people and programs read a description as a whole.
const (
	maxNodes     = 5000
	maxDescribed = 256 << 10
)

// Body describes what the schema's file requires of a body, or of a PATCH if partial is set. It
// returns nil if there is no file, or if the schema is too large.
func (d *Described) Body(s *Set, partial bool) any {
	return d.all(s, func(file *schema) any {
		if partial {
			return d.refer(file.partial, true)
		}
		return d.refer(file.whole, false)
	})
}

// Members describes the outermost members as they appear in responses, except those that never
// do (writeOnly): their names and annotations. The schema constrains requests only, and what is
// stored may be older.
func (d *Described) Members(s *Set) map[string]any {
	members := make(map[string]any)
	if d.all(s, func(file *schema) any { d.members(members, file.whole, 0); return members }) == nil {
		return nil
	}
	return members
}

// all describes everything or, if that is too large, nothing.
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

// shownDepth is the depth to which members are described in responses.
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

// shown returns the annotations of a value and of the members in it.
func (d *Described) shown(s *jsonschema.Schema, depth int) map[string]any {
	to := make(map[string]any)
	if d.nodes++; d.nodes > maxNodes {
		return to // the whole schema is omitted
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

// refer returns a reference to a schema, which it writes unless that was done before.
func (d *Described) refer(s *jsonschema.Schema, partial bool) map[string]any {
	at := place{s.Location, partial}
	name, known := d.names[at]
	if !known {
		name = d.name(s, partial)
		d.names[at] = name
		d.Named[name] = true // reserved while it is written, since it may be recursive
		d.Named[name] = d.write(s, partial)
	}
	return map[string]any{"$ref": d.Ref(name)}
}

// name is the last segment of the schema's place.
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

// Unused returns a name, with a number appended if it is taken.
func Unused(taken map[string]any, name string) string {
	free := name
	for n := 2; taken[free] != nil; n++ {
		free = fmt.Sprintf("%s%d", name, n)
	}
	return free
}

// Identifier turns a text into a name such as StudentFriends, or "" if it has no ASCII letters
// or digits.
func Identifier(text string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9')
	}) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
