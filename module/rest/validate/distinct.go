package validate

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// distinct checks uniqueItems in place of the validator, which compares every two elements that have the same hash. That hash
// does not say where nested values end: [1,[[],[]]] and [1,[[[]]]] have the same, and a body of 250 KB with thousands of
// such elements took most of a minute.
type distinct struct{}

// isDistinct reports whether a schema has uniqueItems.
func isDistinct(s *jsonschema.Schema) bool {
	return slices.Contains(s.Extensions, jsonschema.SchemaExt(distinct{}))
}

// Validate implements [jsonschema.SchemaExt].
func (distinct) Validate(ctx *jsonschema.ValidatorContext, v any) {
	list, _ := v.([]any)
	seen := make(map[string]int, len(list))
	var text []byte
	for i, element := range list {
		text = appendValue(text[:0], element)
		if earlier, twice := seen[string(text)]; twice {
			ctx.AddError(&kind.UniqueItems{Duplicates: [2]int{earlier, i}})
			return
		}
		seen[string(text)] = i
	}
}

// appendValue appends a text that is the same for two values exactly if they are equal, whatever the order of members and
// the notation of numbers.
func appendValue(to []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		to = appendLength(to, '{', len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			to = appendValue(appendValue(to, name), v[name])
		}
	case []any:
		to = appendLength(to, '[', len(v))
		for _, element := range v {
			to = appendValue(to, element)
		}
	case string:
		to = append(appendLength(to, '"', len(v)), v...)
	case json.Number:
		d := parseDecimal(string(v)) // of reasonable size, as Parse has seen
		if d.negative {
			to = append(to, '-')
		}
		to = append(appendLength(to, '0', len(d.digits)), d.digits...)
		to = appendLength(to, 'e', d.exponent)
	case bool:
		to = strconv.AppendBool(to, v)
	default:
		to = append(to, "null"...)
	}
	return to
}

func appendLength(to []byte, kind byte, n int) []byte {
	return append(strconv.AppendInt(append(to, kind), int64(n), 10), ':')
}
