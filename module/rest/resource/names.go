package resource

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// Their returns the upstream's name of a member.
func (r *Resource) Their(ours string) string {
	if theirs, ok := r.Rename[ours]; ok {
		return theirs
	}
	return ours
}

// WrittenBy returns the configuration word that expects a member in bodies, "" if none does.
func (r *Resource) WrittenBy(field string) string {
	switch {
	case slices.Contains(r.Replace, field):
		return "replace"
	case slices.Contains(r.Batch, field):
		return "batch"
	case slices.ContainsFunc(r.Validate, func(rule validate.Rule) bool {
		return !rule.Readonly && (rule.Field == field || strings.HasPrefix(rule.Field, "/"+field+"/"))
	}):
		return "validate"
	}
	return ""
}

// ReadOnly reports whether a member is taken from a pointer in answers and has no name in bodies.
func (r *Resource) ReadOnly(field string) bool {
	_, lifted := r.Lift[field]
	_, named := r.Rename[field]
	return lifted && !named
}

// RefusedNames returns the names, in order, that no member of a body may have: `_method`, the
// upstream's names of renamed members, and members that are only read from a pointer. Spellings that
// an upstream may take for a declared name are refused too, but are too many to list.
func (r *Resource) RefusedNames() []string {
	names := map[string]bool{MethodMember: true}
	for _, theirs := range r.Rename {
		if _, ours := r.Rename[theirs]; !ours {
			names[theirs] = true
		}
	}
	for ours, text := range r.Lift {
		if r.ReadOnly(ours) {
			names[ours] = true
		}
		if at, err := splice.ParsePointer(text); err == nil && len(at) == 1 {
			if _, ours := r.Rename[at[0]]; !ours {
				names[at[0]] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// checkWrap checks the name of the member that bodies are wrapped in.
func (r *Resource) checkWrap() error {
	if IsPointer(r.Wrap) || UnfitForForms(r.Wrap) {
		return fmt.Errorf("wrap %s: expected the name of one member, such as article", r.Wrap)
	}
	return nil
}

// UnfitForForms reports whether a name would mean another one in a form: brackets begin nested names,
// and some programs end a text at a NUL.
func UnfitForForms(name string) bool {
	return strings.ContainsAny(name, "[]") || strings.ContainsFunc(name, unicode.IsControl)
}

// UnfitForParts reports whether a name would mean another one in a multipart form: Rack reads the last `; name=`,
// Tomcat decodes `=?utf-8?Q?name?=`, and Tomcat and Django remove blanks around a name.
func UnfitForParts(name string) bool {
	return UnfitForForms(name) || strings.Contains(name, ";") || strings.Contains(name, "=?") || strings.TrimSpace(name) != name
}

// CharsetField is the field that names the charset of a form (RFC 7578 section 4.6). Jetty and aiohttp read all other
// fields in it.
const CharsetField = "_charset_"

// PlainPath returns a client's path without the expressions of its placeholders. The path may lack
// its leading slash. A path that cannot be parsed is returned unchanged.
func PlainPath(path string) string {
	rooted := "/" + strings.TrimPrefix(path, "/")
	p, err := pathpattern.Parse(rooted)
	if err != nil {
		return path
	}
	return p.Text[len(rooted)-len(path):]
}
