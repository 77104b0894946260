package supply

import (
	"iter"
	"regexp"
	"slices"
	"strings"
)

// NamesInQuery returns the names that clients must not use in a query. Beside a parameter of the query with brackets, such as
// filter[owner], they may use others, such as filter[status], but neither one that it is inside of nor one inside it. Beside one
// that ends in an operator, such as where[owner][equals], they may use no other operator: some APIs heed the first one only. In a
// body any filter is refused ([NamesOf]): Rack takes it for the whole of the one in the query.
func NamesInQuery(params []Param) Names {
	hasSteps := func(p Param) bool { return p.In == Query && strings.Contains(p.Name, "[") }
	names := NamesOf(slices.DeleteFunc(slices.Clone(params), hasSteps))
	for _, p := range params {
		if hasSteps(p) {
			names.noteSteps(p.Name)
		}
	}
	return names
}

// stepped is among the names if there are some that are compared by their steps. All steps of those have it in front, and
// names that they are inside of also have it at their end.
const stepped = "["

func (n Names) noteSteps(name string) {
	at, all := "", slices.Collect(stepsOf(name))
	if last := len(all) - 1; last > 0 && slices.Contains(operators, all[last]) {
		all = all[:last]
	}
	for _, step := range all {
		if at != "" {
			n[at+stepped] = true
		}
		at += stepped + step
	}
	n[at], n[stepped] = true, true
}

// operators are the comparisons of filters, reduced as by [plainName]: `$eq` of Strapi, `_eq` of Directus, `equals` of Payload.
var operators = []string{
	"eq", "equal", "equals", "is", "exact", "iexact", "eqi", "ieq", "ne", "neq", "noteq", "notequal", "notequals", "isnot", "in", "notin", "nin", "inq",
	"gt", "gte", "ge", "lt", "lte", "le", "between", "greaterthan", "greaterthanequal", "lessthan", "lessthanequal", "like", "ilike", "notlike", "contains", "icontains", "startswith", "endswith", "matches", "regexp", "regex",
	"all", "exists", "near", "within", "intersects",
}

// wellFormed is a name whose brackets all parsers read alike. Of others, some leave out what others take for a step: to qs
// filter[where]x[owner] is filter[where][owner].
var (
	wellFormed = regexp.MustCompile(`^[^\[\]]*(?:\[[^\[\]]*\])*$`)
	dotted     = regexp.MustCompile(`\.([^.\[]+)`)
)

// hasSteps reports whether a client's name has the steps of one of these, or the first of them, or could have them for a
// parser that reads brackets in its own way.
func (n Names) hasSteps(name string) bool {
	if !n[stepped] {
		return false
	}
	at := ""
	for step := range stepsOf(name) {
		first := at == ""
		at += stepped + step
		if n[at] || !n[at+stepped] {
			return n[at]
		}
		if first && !wellFormed.MatchString(dotted.ReplaceAllString(name, "[$1]")) {
			return true
		}
	}
	return at != ""
}

// stepsOf yields the steps into an object that upstreams read from a name, reduced as [plainName] does: qs takes dots for
// brackets, to PHP a NUL ends the name, and Rack reads brackets that do not match.
func stepsOf(name string) iter.Seq[string] {
	name, _, _ = strings.Cut(name, "\x00")
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(name, func(c rune) bool { return strings.ContainsRune("[].", c) }) {
			if step := plainName(word); step != "" && !yield(step) {
				return
			}
		}
	}
}

// SamePlaceName is [SameName] for two parameters in the same part of a request, where filter[owner] and filter[status] are two,
// but filter and filter[owner] are not.
func SamePlaceName(a, b string) bool {
	x, y := bracketWords(a), bracketWords(b)
	n := min(len(x), len(y))
	return slices.Equal(x[:n], y[:n])
}

func bracketWords(name string) []string {
	words := strings.FieldsFunc(name, func(c rune) bool { return c == '[' || c == ']' })
	for i, word := range words {
		words[i] = underscored(word)
	}
	return words
}
