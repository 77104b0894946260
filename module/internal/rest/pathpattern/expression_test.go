package pathpattern

import "testing"

func FuzzCompiledExpressionsMatchLikeRegexp(f *testing.F) {
	for _, text := range []string{".+", "[0-9]+", `\d+`, "[^/]+", "[a-z]{2,8}", "(?i)[a-z]+", "(?s).+", "(?:[0-9]+)", "[0-9]+?", "a+", "a|b", `\pL+`, "[^\\x00-\\x7f]+", ".*", "(?U)[a-z]+", "([a-c])+", "(?i)k+"} {
		for _, value := range []string{"", "7", "12345", "a", "Ab", "ü", "a\nb", "\n", "\xff", "a\xff", "a/b", "\U0010ffff", "\u212a"} {
			f.Add(text, value)
		}
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		e, err := compileExpression(text)
		if err != nil {
			return
		}
		if got, want := e.matches(value), e.re.MatchString(value); got != want {
			t.Errorf("%q: matches %q: %t, expected %t", text, value, got, want)
		}
	})
}

func BenchmarkANumber(b *testing.B) {
	e, err := compileExpression("[0-9]+")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if !e.matches("1234567") {
			b.Fatal("1234567 does not match")
		}
	}
}
