package compose

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Fill returns a text with its placeholders filled in.
type Fill func(text string) (string, error)

// Literal returns the value of a member that has no values of a client's request, as JSON. Placeholders are filled in
// wherever the value has a text, so that what they stand for remains part of that text.
func Literal(value string, fill Fill) (string, error) {
	switch {
	case len(value) > maxValue:
		return "", fmt.Errorf("a value of %d bytes, expected at most %d", len(value), maxValue)
	case strings.ContainsFunc(value, unicode.IsControl):
		return "", errors.New("a value with control characters, expected none")
	case !opensJSON(value) && !isScalar(value):
		return filled(value, fill)
	case !json.Valid([]byte(value)):
		return "", errors.New(`invalid JSON, expected one value such as ["{env.PASSWORD}"], with quotes around texts and placeholders`)
	}
	var err error
	whole := jsonString.ReplaceAllStringFunc(value, func(quoted string) string {
		var text string
		if err != nil || !strings.Contains(quoted, "{") {
			return quoted
		}
		if err = json.Unmarshal([]byte(quoted), &text); err == nil {
			quoted, err = filled(text, fill)
		}
		return quoted
	})
	return whole, err
}

// filled returns a filled in text as JSON.
func filled(text string, fill Fill) (string, error) {
	text, err := fill(text)
	if err != nil {
		return "", err
	}
	quoted, err := json.Marshal(text)
	return string(quoted), err
}

// Object returns the object of members whose values are JSON.
func Object(members []Member) ([]byte, error) {
	if len(members) > maxMembers {
		return nil, fmt.Errorf("%d members, expected at most %d", len(members), maxMembers)
	}
	top := new(branch)
	for _, m := range members {
		if err := top.put(m.Name, m.Value); err != nil {
			return nil, err
		}
	}
	return []byte(top.text()), nil
}
