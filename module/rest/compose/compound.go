package compose

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
)

// compound is a text with values of the path in it.
type compound struct {
	parts  []pathpattern.Part
	quotes []string // that the value behind each part is in
}

// textName is the name that a text with values in it has as a placeholder. None of a path has
// capitals.
func textName(i int) string { return "T" + strconv.Itoa(i) }

// addCompound adds a text with values of the path in it, and returns its placeholder.
func (t *Template) addCompound(text string) (string, error) {
	parts, err := pathpattern.SplitPlaceholders(text, func(name string) (int, error) {
		value, found := slices.Index(t.names, name), "{"+name+"}"
		alone := placeholder.MatchString(found) && slices.Contains(t.names, strings.TrimSuffix(name, "|int"))
		switch {
		case value < 0 && (alone || parameter.MatchString(found)):
			return 0, fmt.Errorf("%s has text beside it, expected it alone", found)
		case value < 0:
			return 0, t.unexpected(found)
		}
		return value, nil
	})
	if err != nil {
		return "", err
	}
	if _, alone := pathpattern.WithoutPlaceholders(text); alone {
		return "", errors.New("a brace stands alone, expected placeholders such as {id}")
	}
	t.texts = append(t.texts, compound{parts, pathpattern.QuotesAround(parts)})
	return "{" + textName(len(t.texts)-1) + "}", nil
}

// fill returns the text with these values.
func (c compound) fill(values []string) string {
	var b strings.Builder
	for _, p := range c.parts {
		b.WriteString(p.Text)
		if p.Value >= 0 {
			b.WriteString(values[p.Value])
		}
	}
	return b.String()
}

// EndsQuotes reports whether a value of the path would end the quotes that it is in, such as those of a query in a member
// (`id:"{id}"`). It is escaped for the body, not for what the API reads from the text.
func (t *Template) EndsQuotes(values []string) bool {
	return slices.ContainsFunc(t.texts, func(c compound) bool { return pathpattern.EndQuotesOf(c.parts, c.quotes, values) })
}
