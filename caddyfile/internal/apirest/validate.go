package apirest

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// constraints are the words of validate; enum takes all words up to the next of them.
var constraints = []string{"required", "readonly", "length", "integer", "min", "max", "enum", "format", "pattern"}

// jsonNumber is what the configuration can hold as a number.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

var lengthForm = regexp.MustCompile(`^([0-9]{0,9})\.\.([0-9]{0,9})$`)

// readValidate reads the constraints on a field. Without any it declares the field, for
// `validate * readonly`, which refuses all others.
//
//	validate <field> [required] [readonly] [length <least>..<most>] [integer] [min <n>] [max <n>]
//		[enum <words...>] [format <name>] [pattern <expression>]
func readValidate(d *caddyfile.Dispenser, r *resource.Resource) error {
	words, err := parse.LiteralArguments("a field and constraints such as `validate title required length 5..100`")(d)
	if err != nil {
		return err
	}
	c := validate.Rule{Field: words[0]}
	if slices.ContainsFunc(r.Validate, func(other validate.Rule) bool { return other.Field == c.Field }) {
		return d.Errf("validate %s is given twice", c.Field)
	}
	given := make(map[string]bool)
	for words = words[1:]; len(words) > 0; {
		word := words[0]
		words = words[1:]
		if given[word] {
			return d.Errf("validate %s: %s is given twice", c.Field, word)
		}
		given[word] = true
		if words, err = toConstraint(d, &c, word, words); err != nil {
			return err
		}
	}
	r.Validate = append(r.Validate, c)
	return nil
}

// toConstraint adds one constraint, and returns the words behind it.
func toConstraint(d *caddyfile.Dispenser, c *validate.Rule, word string, words []string) (rest []string, err error) {
	wrong := func(expected string) ([]string, error) {
		if len(words) == 0 {
			return nil, d.Errf("validate %s: %s: expected %s", c.Field, word, expected)
		}
		return nil, d.Errf("validate %s: %s: unexpected '%s', expected %s", c.Field, word, words[0], expected)
	}
	switch word {
	case "required":
		c.Required = true
		return words, nil
	case "readonly":
		c.Readonly = true
		return words, nil
	case "integer":
		c.Integer = true
		return words, nil
	case "enum":
		for len(words) > 0 && !slices.Contains(constraints, words[0]) {
			c.Enum, words = append(c.Enum, words[0]), words[1:]
		}
		if len(c.Enum) == 0 {
			return wrong("the words that are permitted, such as `enum draft published`")
		}
		return words, nil
	case "length":
		m := lengthForm.FindStringSubmatch(append(words, "")[0])
		if m == nil || m[1]+m[2] == "" {
			return wrong("the least and most characters, such as 5..100, 5.. or ..100")
		}
		c.Length = new([2]int)
		for i, digits := range m[1:] {
			c.Length[i], _ = strconv.Atoi(digits) // nothing is 0: no bound
		}
	case "min", "max":
		if len(words) == 0 || !jsonNumber.MatchString(words[0]) {
			return wrong("a number")
		}
		if word == "min" {
			c.Min = json.Number(words[0])
		} else {
			c.Max = json.Number(words[0])
		}
	case "format", "pattern":
		if len(words) == 0 {
			return wrong(map[string]string{"format": "date, date-time, email, uri or uuid", "pattern": "a regular expression"}[word])
		}
		if word == "format" {
			c.Format = words[0]
		} else {
			c.Pattern = words[0]
		}
	default:
		return nil, d.Errf("validate %s: unexpected '%s', expected one of: %s", c.Field, word, strings.Join(constraints, ", "))
	}
	return words[1:], nil
}

// readSchema reads the file that bodies are validated against.
func readSchema(d *caddyfile.Dispenser) (*validate.Schema, error) {
	words, err := parse.LiteralArguments("a file, and perhaps a JSON Pointer into it such as /components/schemas/Article")(d)
	if err != nil {
		return nil, err
	}
	if len(words) > 2 {
		return nil, d.Errf("schema: unexpected argument '%s', expected only a file and a JSON Pointer", words[2])
	}
	if _, err := os.Stat(words[0]); err != nil {
		return nil, d.Errf("schema: %s cannot be read, expected a file with a JSON Schema or an OpenAPI document", words[0])
	}
	schema := &validate.Schema{File: words[0]}
	if len(words) == 2 {
		schema.Pointer = words[1]
	}
	return schema, nil
}
