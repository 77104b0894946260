package pathpattern

import (
	"regexp"
	"testing"
)

var (
	placeholderForm = regexp.MustCompile(`^\{([a-z][a-z0-9_]*)(?::(.*))?\}$`)
	literalForm     = regexp.MustCompile(`^[A-Za-z0-9._~-]+$`)
)

func FuzzPlaceholdersMatchTheirRegexp(f *testing.F) {
	for _, segment := range []string{
		"", "{}", "{", "}", "{id}", "{id", "id}", "{id}}", "{{id}", "{Id}", "{1d}", "{_d}", "{i_d2}", "{id:}", "{id:[0-9]+}", "{id:a}}", "{id::}", "{id:\n}", "{id}\n", "{:x}",
		"articles", "a-b._~Z9", "a:b", "a@b", "ä", "a b", "..", "a/b", "\xff",
	} {
		f.Add(segment)
	}
	f.Fuzz(func(t *testing.T, segment string) {
		name, expression, given, ok := cutPlaceholder(segment)
		m := placeholderForm.FindStringSubmatch(segment)
		if ok != (m != nil) || ok && (name != m[1] || expression != m[2] || given != (m[0] != "{"+m[1]+"}")) {
			t.Errorf("%q: %q, %q, %t, %t, expected %q", segment, name, expression, given, ok, m)
		}
		if got, want := isLiteral(segment), literalForm.MatchString(segment); got != want {
			t.Errorf("%q: a literal: %t, expected %t", segment, got, want)
		}
	})
}
