package validate

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/module/internal/rest/turns"
)

func rulesOf(t testing.TB, text string) *Set {
	t.Helper()
	var rules []Rule
	if err := json.Unmarshal([]byte(text), &rules); err != nil {
		t.Fatal(text, err)
	}
	s, err := Compile(rules, nil)
	if err != nil {
		t.Fatal(text, err)
	}
	return s
}

func TestConstraintsOnMembers(t *testing.T) {
	const title = `[{"field": "title", "required": true, "length": [5, 100]}]`
	const text = "title must be a text of 5 to 100 characters"
	for _, c := range []struct {
		rules, body, whole, partial string
	}{
		{title, `{"title":"Hello"}`, "", ""},
		{title, `{"title":"` + strings.Repeat("é", 100) + `"}`, "", ""},
		{title, `{"title":"` + strings.Repeat("é", 101) + `"}`, text, text},
		{title, `{"title":"Héll"}`, text, text},
		{title, `{"title":"\u0048\u0065\u006c\u006c"}`, text, text},
		{title, `{"title":"😀😀😀😀😀"}`, "", ""},
		{title, `{"title":"\ud83d\ude00\ud83d\ude00\ud83d\ude00"}`, text, text},
		{title, `{"title":""}`, text, text},
		{title, `{"title":12345}`, text, text},
		{title, `{"title":["Hello"]}`, text, text},
		{title, `{"title":{"a":"Hello"}}`, text, text},
		{title, `{"title":false}`, text, text},
		{title, `{}`, "title is required", ""},
		{title, `{"title":null}`, "title is required, and must not be null", "title is required, and must not be null"},
		{title, `{"Title":"Hello"}`, "title is required", ""},
		{`[{"field": "t", "length": [5, 0]}]`, `{"t":"1234"}`, "t must be a text of at least 5 characters", "t must be a text of at least 5 characters"},
		{`[{"field": "t", "length": [5, 0]}]`, `{"t":"` + strings.Repeat("x", 1000) + `"}`, "", ""},
		{`[{"field": "t", "length": [0, 3]}]`, `{"t":""}`, "", ""},
		{`[{"field": "t", "length": [2, 2]}]`, `{"t":"x"}`, "t must be a text of 2 characters", "t must be a text of 2 characters"},
		{`[{"field": "t", "length": [2, 2]}]`, `{"t":null}`, "", ""},

		{`[{"field": "n", "integer": true}]`, `{"n":123456789012345678901234567890}`, "", ""},
		{`[{"field": "n", "integer": true}]`, `{"n":-0}`, "", ""},
		{`[{"field": "n", "integer": true}]`, `{"n":1.0}`, "n must be a whole number", "n must be a whole number"},
		{`[{"field": "n", "integer": true}]`, `{"n":1e2}`, "n must be a whole number", "n must be a whole number"},
		{`[{"field": "n", "integer": true}]`, `{"n":"1"}`, "n must be a whole number", "n must be a whole number"},
		{`[{"field": "n", "integer": true, "min": 1, "max": 9007199254740993}]`, `{"n":9007199254740993}`, "", ""},
		{`[{"field": "n", "integer": true, "min": 1, "max": 9007199254740993}]`, `{"n":9007199254740994}`, "n must be a whole number from 1 to 9007199254740993", "n must be a whole number from 1 to 9007199254740993"},
		{`[{"field": "n", "min": 1}]`, `{"n":0.9999999999999999999999}`, "n must be a number of at least 1", "n must be a number of at least 1"},
		{`[{"field": "n", "min": 1}]`, `{"n":1e-0}`, "", ""},
		{`[{"field": "n", "max": -1.5}]`, `{"n":-15e-1}`, "", ""},
		{`[{"field": "n", "max": -1.5}]`, `{"n":0}`, "n must be a number of at most -1.5", "n must be a number of at most -1.5"},
		{`[{"field": "n", "min": 5, "max": 5}]`, `{"n":5.00}`, "", ""},
		{`[{"field": "n", "min": 5, "max": 5}]`, `{"n":4}`, "n must be a number from 5 to 5", "n must be a number from 5 to 5"},

		{`[{"field": "s", "enum": ["draft", "1", "true"]}]`, `{"s":"draft"}`, "", ""},
		{`[{"field": "s", "enum": ["draft", "1", "true"]}]`, `{"s":"dr\u0061ft"}`, "", ""},
		{`[{"field": "s", "enum": ["draft", "1", "true"]}]`, `{"s":1}`, "", ""},
		{`[{"field": "s", "enum": ["draft", "1", "true"]}]`, `{"s":true}`, "", ""},
		{`[{"field": "s", "enum": ["draft", "1", "true"]}]`, `{"s":1.0}`, "s must be one of: draft, 1, true", "s must be one of: draft, 1, true"},
		{`[{"field": "s", "enum": ["draft", "{}"]}]`, `{"s":{}}`, "s must be one of: draft, {}", "s must be one of: draft, {}"},
		{`[{"field": "s", "enum": ["draft"]}]`, `{"s":"Draft"}`, "s must be one of: draft", "s must be one of: draft"},

		{`[{"field": "p", "pattern": "[a-z]+"}]`, `{"p":"abc"}`, "", ""},
		{`[{"field": "p", "pattern": "a|b"}]`, `{"p":"ab"}`, "p must be a text of the form a|b", "p must be a text of the form a|b"},
		{`[{"field": "p", "pattern": "(?m)^[a-z]+$"}]`, `{"p":"abc\n123"}`, "p must be a text of the form (?m)^[a-z]+$", "p must be a text of the form (?m)^[a-z]+$"},
		{`[{"field": "p", "pattern": "[a-z]+"}]`, `{"p":"abc\n"}`, "p must be a text of the form [a-z]+", "p must be a text of the form [a-z]+"},
		{`[{"field": "p", "format": "date", "length": [10, 10]}]`, `{"p":"x"}`, "p must be a date such as 2026-01-31 of 10 characters", "p must be a date such as 2026-01-31 of 10 characters"},

		{`[{"field": "id", "readonly": true}]`, `{"id":1}`, "id cannot be written", "id cannot be written"},
		{`[{"field": "id", "readonly": true}]`, `{"id":null}`, "id cannot be written", "id cannot be written"},
		{`[{"field": "id", "readonly": true}]`, `{"x":1}`, "", ""},
		{`[{"field": "*", "readonly": true}, {"field": "title"}, {"field": "/author/name"}]`, `{"title":{"x":1},"author":{"name":{"x":1}}}`, "", ""},
		{`[{"field": "*", "readonly": true}, {"field": "/author/name"}, {"field": "author"}]`, `{"author":{"name":1,"x":1}}`, "/author/x is not a field of this resource", "/author/x is not a field of this resource"},
		{`[{"field": "author"}, {"field": "/author/at/city"}, {"field": "/author/at/street"}, {"field": "*", "readonly": true}]`, `{"author":{"at":{"city":1,"street":1,"x":1}}}`, "/author/at/x is not a field of this resource", "/author/at/x is not a field of this resource"},
		{`[{"field": "*", "readonly": true}, {"field": "/author/name"}]`, `{"author":null}`, "", ""},
		{`[{"field": "*", "readonly": true}, {"field": "/author/name"}]`, `{"author.name":1}`, "author.name is not a field of this resource", "author.name is not a field of this resource"},
		{`[{"field": "*", "readonly": true}, {"field": "title"}]`, `{"title":1,"_method":"DELETE"}`, "_method is not a field of this resource", "_method is not a field of this resource"},
		{`[{"field": "*", "readonly": true}]`, `{"*":1}`, "* is not a field of this resource", "* is not a field of this resource"},

		{`[{"field": "/author/name", "required": true, "length": [1, 5]}]`, `{"author":{"name":"Li"}}`, "", ""},
		{`[{"field": "/author/name", "required": true, "length": [1, 5]}]`, `{}`, "", ""},
		{`[{"field": "/author/name", "required": true, "length": [1, 5]}]`, `{"author":null}`, "", ""},
		{`[{"field": "/author/name", "required": true, "length": [1, 5]}]`, `{"author":{}}`, "/author/name is required", ""},
		{`[{"field": "/author/name", "required": true, "length": [1, 5]}]`, `{"author":"Li"}`, "author must be an object", "author must be an object"},
		{`[{"field": "/author/name", "required": true, "length": [1, 5]}]`, `{"author":{"name":"toolong"}}`, "/author/name must be a text of 1 to 5 characters", "/author/name must be a text of 1 to 5 characters"},
		{`[{"field": "/a/b/c", "integer": true}]`, `{"a":{"b":[]}}`, "/a/b must be an object", "/a/b must be an object"},
		{`[{"field": "/a~1b/c~0d", "integer": true}]`, `{"a/b":{"c~d":"x"}}`, "/a~1b/c~0d must be a whole number", "/a~1b/c~0d must be a whole number"},
		{`[{"field": "a.b", "integer": true}]`, `{"a.b":"x","a":{"b":"y"}}`, "a.b must be a whole number", "a.b must be a whole number"},

		{`[{"field": "b", "required": true}, {"field": "a", "required": true}]`, `{}`, "b is required", ""},
		{`[{"field": "b", "required": true}]`, `{"b":[]}`, "", ""},
	} {
		s := rulesOf(t, c.rules)
		if got := told(t, s, c.body, false); got != c.whole {
			t.Errorf("%s %s: %s", c.rules, c.body, got)
		}
		if got := told(t, s, c.body, true); got != c.partial {
			t.Errorf("%s PATCH %s: %s", c.rules, c.body, got)
		}
	}
}

func TestFormats(t *testing.T) {
	for format, texts := range map[string][2][]string{
		"date": {
			{"2026-01-31", "2024-02-29"},
			{"", "2026-1-31", "2026-02-30", "2025-02-29", "31.01.2026", "2026-01-31T00:00:00Z", " 2026-01-31", "20260131"},
		},
		"date-time": {
			{"2026-01-31T12:00:00Z", "2026-01-31t12:00:00z", "2026-01-31T12:00:00.123456789+05:30"},
			{"", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31 12:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:00:00,5Z", "2026-01-31T12:00Z"},
		},
		"email": {
			{"a@example.com", "a.b+c@example.co.uk"},
			{"", "a", "a@", "@b", "A <a@example.com>", "a@example.com, b@example.com", " a@example.com", "a@example.com\r\nBcc: b@example.com", strings.Repeat("a", 250) + "@b.co"},
		},
		"uri": {
			{"https://example.com/a?b=c#d", "urn:isbn:0451450523", "mailto:a@example.com", "http://[::1]:80/"},
			{"", "/a", "example.com", "//example.com", "https://exa mple.com", "https://example.com/<script>", "https:", "http://é.example/", "http://a\\b", "https://example.com/\n"},
		},
		"uuid": {
			{"123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"},
			{"", "123e4567e89b12d3a456426614174000", "{123e4567-e89b-12d3-a456-426614174000}", "123e4567-e89b-12d3-a456-42661417400g", "123e4567-e89b-12d3-a456-426614174000\n"},
		},
	} {
		s := rulesOf(t, `[{"field": "x", "format": "`+format+`"}]`)
		for i, list := range texts {
			for _, text := range list {
				body, err := json.Marshal(map[string]string{"x": text})
				if err != nil {
					t.Fatal(err)
				}
				if got := told(t, s, string(body), false); (got == "") != (i == 0) {
					t.Errorf("%s %q: %q", format, text, got)
				}
			}
		}
	}
}

func TestInvalidValidationRuleIsRefused(t *testing.T) {
	for rules, want := range map[string]string{
		`[{}]`:                             "validate: expected a field",
		`[{"field": "a"}, {"field": "a"}]`: "validate a: it is declared twice",
		`[{"field": "*"}]`:                 "validate *: expected readonly",
		`[{"field": "*", "readonly": true, "required": true}]`: "validate *: readonly: expected no other",
		`[{"field": "a", "readonly": true, "length": [1, 2]}]`: "validate a: readonly",
		`[{"field": "a", "length": [1, 2], "integer": true}]`:  "not both",
		`[{"field": "a", "enum": ["a"], "min": 1}]`:            "enum: expected no other",
		`[{"field": "a", "enum": []}]`:                         "validate a: enum []: expected a value",
		`[{"field": "/a~2", "integer": true}]`:                 "validate /a~2: ",
		`[{"field": "a", "length": [5, 3]}]`:                   "length 5..3: expected",
		`[{"field": "a", "length": [-1, 3]}]`:                  "length -1..3",
		`[{"field": "a", "length": [0, 0]}]`:                   "length 0..0",
		`[{"field": "a", "min": 5, "max": 4.999}]`:             "max 4.999: expected no less than min, 5",
		`[{"field": "a", "min": 1e999}]`:                       "min 1e999: expected a number",
		`[{"field": "a", "format": "phone"}]`:                  "format phone: expected date, date-time, email, uri, uuid",
		`[{"field": "a", "pattern": "("}]`:                     "validate a: pattern: expected",
	} {
		var list []Rule
		if err := json.Unmarshal([]byte(rules), &list); err != nil {
			t.Fatal(rules, err)
		}
		if _, err := Compile(list, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", rules, err)
		}
	}
	for _, n := range []json.Number{"1 ", " 1", "01", "+1", "x", "1,5", ".5", "0x1", "NaN"} { // as a Caddyfile may have them
		if err := (&Rule{Field: "a", Min: n}).Check(); err == nil {
			t.Errorf("%q is a number", n)
		}
	}
}

// A megabyte takes tens of milliseconds to parse, and twenty rules for members of one object would make seconds of it.
func TestObjectIsParsedOnceForAllRulesAboutIt(t *testing.T) {
	members := make([]string, 10_000)
	for i := range members {
		members[i] = fmt.Sprintf(`"m%d":0`, i)
	}
	object, refused := Parse([]byte(`{"a":{"b":{` + strings.Join(members, ",") + `}}}`))
	if refused != nil {
		t.Fatal(refused)
	}
	allocations := func(rules int) float64 {
		var all []Rule
		for i := range rules {
			all = append(all, Rule{Field: "/a/b/x" + strconv.Itoa(i), Integer: true})
		}
		set, err := Compile(all, nil)
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(10, func() { _ = set.Check(turns.Caller{}, nil, object, false) })
	}
	if one, twenty := allocations(1), allocations(20); twenty > 2*one {
		t.Errorf("%v allocations for one rule, %v for twenty", one, twenty)
	}
}

func TestNilSetPermitsEverything(t *testing.T) {
	var s *Set
	if refused := s.Check(turns.Caller{}, nil, Object{{Name: "a", Value: json.RawMessage("1")}}, false); refused != nil {
		t.Error(refused)
	}
}

func TestNumbersAreComparedExactly(t *testing.T) {
	literal := rapid.Custom(func(t *rapid.T) string {
		text := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign") + rapid.StringMatching(`0|[1-9][0-9]{0,25}`).Draw(t, "whole")
		if rapid.Bool().Draw(t, "fraction") {
			text += rapid.StringMatching(`\.[0-9]{1,12}`).Draw(t, "digits")
		}
		if rapid.Bool().Draw(t, "exponent") {
			text += rapid.SampledFrom([]string{"e", "E", "e+", "E-"}).Draw(t, "e") + strconv.Itoa(rapid.IntRange(0, 30).Draw(t, "n"))
		}
		return text
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := literal.Draw(t, "a"), literal.Draw(t, "b")
		if rapid.Bool().Draw(t, "same value") {
			b = a
			if !strings.ContainsAny(a, ".eE") {
				b = a + ".0e-0"
			}
		}
		x, okX := new(big.Rat).SetString(a)
		y, okY := new(big.Rat).SetString(b)
		if !okX || !okY || !isNumber(a) || !isNumber(b) {
			t.Fatalf("%s %s: no numbers", a, b)
		}
		if got := parseDecimal(a).compare(parseDecimal(b)); got != x.Cmp(y) {
			t.Fatalf("%s %s: %d", a, b, got)
		}
	})
}
