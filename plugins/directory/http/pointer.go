package http

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// pointer is a JSON pointer (RFC 6901), cut and unescaped.
type pointer []string

func parsePointer(s string) (pointer, error) {
	rest, ok := strings.CutPrefix(s, "/")
	if !ok || strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(s), "~") {
		return nil, errors.New("expected a JSON pointer, such as /user/id")
	}
	p := pointer(strings.Split(rest, "/"))
	for i := range p {
		p[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p[i])
	}
	return p, nil
}

// findValue gives the value there, nil for none.
func (p pointer) findValue(v any) any {
	for _, step := range p {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) || strconv.Itoa(i) != step {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// textValue is a value as text; ok is false for an object or a list. null is "".
func textValue(v any) (s string, ok bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}
