package validate

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/module/internal/rest/turns"
)

func TestAmbiguousBodyIsRefused(t *testing.T) {
	deep := func(n int, open, inner, end string) string {
		return `{"a":` + strings.Repeat(open, n) + inner + strings.Repeat(end, n) + `}`
	}
	for body, want := range map[string]string{
		`{}`: "", ` { "a" : 1 } ` + "\r\n": "",
		``: ": the body is not valid JSON", ` `: ": the body is not valid JSON", `{`: ": the body is not valid JSON", `{} {}`: ": the body is not valid JSON",
		`{}x`: ": the body is not valid JSON", `{"a":1,}`: ": the body is not valid JSON", `{'a':1}`: ": the body is not valid JSON", `{"a":NaN}`: ": the body is not valid JSON",
		`{"a":01}`: ": the body is not valid JSON", `{"a":+1}`: ": the body is not valid JSON", "\xef\xbb\xbf{}": ": the body is not valid JSON", "{\"a\":\"\n\"}": ": the body is not valid JSON",
		`//x` + "\n{}": ": the body is not valid JSON",
		`[]`:           ": the body must be a JSON object", `null`: ": the body must be a JSON object", `"x"`: ": the body must be a JSON object", `1`: ": the body must be a JSON object",
		"{\"a\":\"\xff\"}": ": the body is not UTF-8", "{\"\xc3\":1}": ": the body is not UTF-8",

		`{"a":1,"a":1}`: "a is given twice", `{"a":1,"\u0061":2}`: "a is given twice", `{"é":1,"\u00e9":2}`: "é is given twice",
		`{"a":1,"A":2}`:           "", // they are two
		`{"x":{"a":1,"a":2}}`:     "/x/a is given twice",
		`{"x":[0,{"a":1,"a":2}]}`: "/x/1/a is given twice", `{"x":[[],[{},{"b/c~":{"a":1,"a":2}}]]}`: "/x/1/1/b~1c~0/a is given twice",
		`{"":1,"":2}`: "/ is given twice", `{"/a":1,"/a":2}`: "/~1a is given twice",
		`{"x":[{"a":1},{"a":1}],"y":{"a":1},"a":{"x":{}}}`: "",

		`{"a":"\ud83d\ude00"}`: "", `{"a":"\\ud83d"}`: "", `{"a":"\uD83D\uDE00\\"}`: "",
		`{"a":"\ud83d"}`: "a has half of a surrogate pair in its text", `{"a":"\ude00"}`: "a has half of a surrogate pair in its text",
		`{"a":"\ud83d\ud83d\ude00"}`: "a has half of a surrogate pair in its text", `{"a":"\ud83dx\ude00"}`: "a has half of a surrogate pair in its text",
		`{"a":["\ud83d\\ude00"]}`: "/a/0 has half of a surrogate pair in its text", `{"\ud800":1,"\ud801":1}`: ": the request has half of a surrogate pair in its text",

		`{"a":1e400,"b":-1E-400,"c":` + strings.Repeat("9", 400) + `}`: "",
		`{"a":1e401}`: "a is a number that is too long", `{"a":[-0.1E-401]}`: "/a/0 is a number that is too long", `{"a":1e99999999999999999999}`: "a is a number that is too long",
		`{"a":` + strings.Repeat("9", 401) + `}`: "a is a number that is too long",

		deep(127, "[", "1", "]"):                     "",
		deep(128, "[", "1", "]"):                     ": the body is nested too deeply",
		deep(126, `{"a":`, "{}", "}"):                "",
		deep(127, `{"a":`, "{}", "}"):                ": the body is nested too deeply",
		deep(9_000, "[", "1", "]"):                   ": the body is nested too deeply",
		deep(100_000, "[", "1", "]"):                 ": the body is nested too deeply",
		strings.Repeat("[", 100):                     ": the body is not valid JSON",
		`{"` + strings.Repeat("x", 300) + `":1e999}`: strings.Repeat("x", 256) + "... is a number that is too long",
	} {
		if got := told(t, nil, body, false); got != want {
			t.Errorf("%.80s: %s, not %s", body, got, want)
		}
	}
}

func TestMembersKeepTheirRawValues(t *testing.T) {
	o, refused := Parse([]byte(" {\"b\" :12345678901234567890123,\t\"\\u0061\":[ 1.0 , {} ],\"c\":\"\\u00e9\\/\" , \"d\":{\"e\" : null},\"f\":true} "))
	if refused != nil {
		t.Fatal(refused)
	}
	var got []string
	for _, m := range o {
		got = append(got, m.Name+"="+string(m.Value))
	}
	if diff := cmp.Diff([]string{"b=12345678901234567890123", "a=[ 1.0 , {} ]", `c="\u00e9\/"`, `d={"e" : null}`, "f=true"}, got); diff != "" {
		t.Error(diff)
	}
	if o.Get("none") != nil || string(o.Get("f")) != "true" {
		t.Error("members are not found")
	}
}

// reference reads with encoding/json what Parse accepts, and says whether it has a
// member twice.
func reference(d *json.Decoder) (twice bool, err error) {
	t, err := d.Token()
	if err != nil {
		return false, err
	}
	switch t {
	case json.Delim('{'):
		seen := make(map[any]bool)
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return twice, err
			}
			twice = twice || seen[name]
			seen[name] = true
			more, err := reference(d)
			if twice = twice || more; err != nil {
				return twice, err
			}
		}
		_, err = d.Token()
	case json.Delim('['):
		for d.More() {
			more, err := reference(d)
			if twice = twice || more; err != nil {
				return twice, err
			}
		}
		_, err = d.Token()
	}
	return twice, err
}

type failing interface {
	Fatalf(format string, args ...any)
}

func judge(t failing, body []byte) {
	o, refused := Parse(body)
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if refused != nil {
		if refused.Status != 400 || refused.Message == "" || !utf8.ValidString(refused.Field) {
			t.Fatalf("%q: %v", body, refused)
		}
		switch twice, err := reference(d); {
		case strings.HasSuffix(refused.Message, " is given twice"):
			if !twice {
				t.Fatalf("%q: %v", body, refused)
			}
		case refused.Message == "the body is not valid JSON":
			if err == nil && json.Valid(body) {
				t.Fatalf("%q: %v", body, refused)
			}
		}
		return
	}
	if twice, err := reference(d); err != nil || twice {
		t.Fatalf("%q is accepted: %v %v", body, twice, err)
	}
	var want, got map[string]any
	if err := json.Unmarshal(body, &want); err != nil {
		if !strings.Contains(err.Error(), "cannot unmarshal number") { // 1e400 is none for float64
			t.Fatalf("%q is accepted: %v", body, err)
		}
		return
	}
	text := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			text = append(text, ',')
		}
		name, _ := json.Marshal(m.Name)
		text = append(append(append(text, name...), ':'), m.Value...)
	}
	if err := json.Unmarshal(append(text, '}'), &got); err != nil || !cmp.Equal(want, got) {
		t.Fatalf("%q became %q: %v", body, text, err)
	}
}

func FuzzRequestBodies(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":1,"a":2}`, `{"a":{"b":[1,{"c":"\ud83d\ude00"}]},"\u0061":null}`, `{"a":"\ud800"}`, `{"a":1e401,"b":-0.0e-0}`, ` { "" : [ ] , "/" : { } } `,
		`[{"a":1}]`, `{"a":[[[[[[]]]]]]}`, "{\"a\":\"\xff\"}", `{"title":"Hello","rank":9007199254740993,"due":"2026-01-31","author":{"name":"x"}}`, `{"a":tru}`, `{"title":1e400,"rank":1e-400}`,
	} {
		f.Add([]byte(seed))
	}
	file := schemaOf(f, "article.json", "")
	rules, err := Compile([]Rule{
		{Field: "title", Required: true, Length: &[2]int{1, 5}, Pattern: "[a-z]*", Format: "email"}, {Field: "rank", Min: "0.001", Max: "1e10"}, {Field: "due", Format: "date"},
		{Field: "/author/name", Enum: []string{"x", "1"}}, {Field: "*", Readonly: true},
	}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		judge(t, body)
		o, refused := Parse(body)
		if refused != nil {
			return
		}
		for _, s := range []*Set{nil, file, rules} {
			for _, partial := range []bool{false, true} {
				first, again := s.Check(turns.Caller{}, nil, o, partial), s.Check(turns.Caller{}, nil, o, partial)
				if (first == nil) != (again == nil) || first != nil && (first.Status != 400 || first.Field != again.Field || first.Message != again.Message) {
					t.Fatalf("%q: %v, and then %v", body, first, again)
				}
			}
			if whole := s.Check(turns.Caller{}, nil, o, false); whole == nil && s.Check(turns.Caller{}, nil, o, true) != nil {
				t.Fatalf("%q: a PATCH may not what a POST may", body)
			}
		}
	})
}

func TestAnyObjectIsReadLikeEncodingJSON(t *testing.T) {
	var generate func(t *rapid.T, depth int) any
	generate = func(t *rapid.T, depth int) any {
		switch kind := rapid.IntRange(0, 6).Draw(t, "kind"); {
		case kind == 0 && depth < 4:
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "elements") {
				list = append(list, generate(t, depth+1))
			}
			return list
		case kind < 3 && depth < 4:
			o := map[string]any{}
			for range rapid.IntRange(0, 3).Draw(t, "members") {
				o[rapid.String().Draw(t, "name")] = generate(t, depth+1)
			}
			return o
		case kind == 3:
			return nil
		case kind == 4:
			return rapid.Bool().Draw(t, "bool")
		case kind == 5:
			return rapid.Int64().Draw(t, "number")
		}
		return rapid.String().Draw(t, "text")
	}
	rapid.Check(t, func(t *rapid.T) {
		o := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			o[rapid.String().Draw(t, "name")] = generate(t, 0)
		}
		var body []byte
		if rapid.Bool().Draw(t, "indented") {
			body, _ = json.MarshalIndent(o, " ", "\t")
		} else {
			body, _ = json.Marshal(o)
		}
		if _, refused := Parse(body); refused != nil {
			t.Fatalf("%s: %v", body, refused)
		}
		judge(t, body)
	})
}
