package validate

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// Set is a compiled set of constraints. A nil Set permits everything.
type Set struct {
	rules  []compiled
	only   permitted // the members with a rule, if all others are refused; otherwise nil
	schema *schema
}

// compiled is a compiled rule.
type compiled struct {
	Rule
	path    []string
	text    bool // the value must be a string
	number  bool // the value must be a number
	min     *decimal
	max     *decimal
	pattern *regexp.Regexp
}

// Compile checks constraints, and reads the schema's file if there is one.
func Compile(rules []Rule, file *Schema) (*Set, error) {
	s := new(Set)
	seen := make(map[string]bool, len(rules))
	for _, r := range rules {
		if err := r.Check(); err != nil {
			return nil, err
		}
		if seen[r.Field] {
			return nil, fmt.Errorf("validate %s: it is declared twice", r.Field)
		}
		seen[r.Field] = true
		if r.Field == "*" {
			s.only = make(permitted)
			continue
		}
		s.rules = append(s.rules, r.compile())
	}
	if s.only != nil {
		for _, r := range s.rules {
			s.only.add(r.path)
		}
	}
	if file != nil {
		var err error
		if s.schema, err = load(*file); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Check returns an error that says what is wrong with a rule.
func (r *Rule) Check() error {
	refuse := func(word string, value any, expected string) error {
		return fmt.Errorf("validate %s: %s %v: expected %s", r.Field, word, value, expected)
	}
	text := r.Length != nil || r.Format != "" || r.Pattern != ""
	number := r.Integer || r.Min != "" || r.Max != ""
	switch {
	case r.Field == "":
		return fmt.Errorf("validate: expected a field")
	case r.Field == "*" && !r.Readonly:
		return fmt.Errorf("validate *: expected readonly, since * stands for all members without a rule")
	case r.Readonly && (text || number || r.Required || r.Enum != nil):
		return fmt.Errorf("validate %s: readonly: expected no other constraint", r.Field)
	case text && number:
		return fmt.Errorf("validate %s: expected constraints on a text (length, format, pattern) or on a number (integer, min, max), not both", r.Field)
	case r.Enum != nil && (text || number):
		return fmt.Errorf("validate %s: enum: expected no other constraint but required", r.Field)
	case r.Enum != nil && len(r.Enum) == 0:
		return refuse("enum", r.Enum, "a value")
	}
	if strings.HasPrefix(r.Field, "/") {
		if _, err := splice.ParsePointer(r.Field); err != nil {
			return fmt.Errorf("validate %s: %w", r.Field, err)
		}
	}
	if l := r.Length; l != nil && (l[0] < 0 || l[1] < 0 || l[1] != 0 && l[1] < l[0] || *l == [2]int{}) {
		return refuse("length", fmt.Sprintf("%d..%d", l[0], l[1]), "the least and most characters, such as 5..100")
	}
	for _, bound := range []struct {
		word string
		n    json.Number
	}{{"min", r.Min}, {"max", r.Max}} {
		if bound.n != "" && !isNumber(string(bound.n)) {
			return refuse(bound.word, bound.n, "a number")
		}
	}
	if r.Min != "" && r.Max != "" && parseDecimal(string(r.Min)).compare(parseDecimal(string(r.Max))) > 0 {
		return refuse("max", r.Max, "no less than min, "+string(r.Min))
	}
	if _, ok := formats[r.Format]; r.Format != "" && !ok {
		return refuse("format", r.Format, strings.Join(slices.Sorted(maps.Keys(formats)), ", "))
	}
	if _, err := regexp.Compile(r.Pattern); err != nil {
		return fmt.Errorf("validate %s: pattern: expected a regular expression: %w", r.Field, err)
	}
	return nil
}

// isNumber reports whether a text is a JSON number of reasonable size.
func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && json.Valid([]byte(text)) && !strings.ContainsAny(text, " \t\r\n") && proportionate(text)
}

// compile compiles a rule that was checked.
func (r Rule) compile() compiled {
	c := compiled{
		Rule: r, path: []string{r.Field},
		text:   r.Length != nil || r.Format != "" || r.Pattern != "",
		number: r.Integer || r.Min != "" || r.Max != "",
	}
	if strings.HasPrefix(r.Field, "/") {
		c.path, _ = splice.ParsePointer(r.Field)
	}
	if r.Min != "" {
		least := parseDecimal(string(r.Min))
		c.min = &least
	}
	if r.Max != "" {
		most := parseDecimal(string(r.Max))
		c.max = &most
	}
	if r.Pattern != "" {
		c.pattern = regexp.MustCompile(`\A(?:` + r.Pattern + `)\z`)
	}
	return c
}
