package splice

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func at(t testing.TB, text string) Pointer {
	t.Helper()
	p, err := ParsePointer(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func plan(t testing.TB, c Config) *Plan {
	t.Helper()
	p, err := Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// edited writes a text in chunks of the sizes given, in turn.
func edited(p *Plan, text string, sizes ...int) (out string, e *Editor, err error) {
	var b bytes.Buffer
	e = p.New(&b)
	for n := 0; text != ""; n++ {
		size := min(len(text), sizes[n%len(sizes)])
		if _, err = e.Write([]byte(text[:size])); err != nil {
			return b.String(), e, err
		}
		text = text[size:]
	}
	err = e.Close()
	return b.String(), e, err
}

// link appends a member with the id as it was captured.
func link(dst []byte, id Scalar) []byte {
	return fmt.Appendf(dst, `"self":"%s %s"`, id.Kind, id.Text)
}

func TestEdits(t *testing.T) {
	p := func(text string) Pointer { return at(t, text) }
	for _, c := range []struct {
		name string
		conf Config
		in   string
		out  string
	}{
		{"nothing", Config{}, " {\"a\" : [1, 2.50e+1 ,{ }] }\n", " {\"a\" : [1, 2.50e+1 ,{ }] }\n"},
		{"nothing of a scalar", Config{}, "12345678901234567890\n", "12345678901234567890\n"},
		{"a root", Config{Root: p("/r/x")}, `{"a":1,"r":{"y":[{"x":2}],"x" : {"k" : 1 } , "z":2}}`, `{"k" : 1 }`},
		{"a scalar root", Config{Root: p("/r")}, `{"r":"a\u0062"}`, `"a\u0062"`},
		{"a root that is the last number", Config{Root: p("/r")}, `{"r":1}`, `1`},
		{"a scalar root with edits", Config{Root: p("/r"), Rename: map[string]string{"a": "b"}, Any: true}, `{"r":12345678901234567890}`, `12345678901234567890`},
		{"an array root with edits", Config{Root: p("/r"), Rename: map[string]string{"a": "b"}, Any: true}, `{"r":[{"a":1}]}`, `[{"a":1}]`},
		{"an object root with edits", Config{Root: p("/r"), Rename: map[string]string{"a": "b"}, Any: true}, `{"r":{"a":1}}`, `{"b":1}`},
		{"a root in an array", Config{Root: p("/1/x")}, `[{"x":1},{"x":[2]},{"x":3}]`, `[2]`},
		{"an index is no name of another form", Config{Root: p("/0")}, `{"00":1,"0":2}`, `2`},
		{"an escaped name", Config{Root: p("/aid")}, `{"\u0061i\u0064":[1]}`, `[1]`},
		{"a name of many letters", Config{Root: p("/文章~1~0")}, `{"\u6587章\/~":[1]}`, `[1]`},
		{"surrogates", Config{Root: p("/😀")}, `{"\ud83d":0,"\ud83d\u0041":0,"\ud83d\ude00":[1]}`, `[1]`},

		{"a list", Config{Root: p("/l"), List: true}, `{"l":[ 1 , 2 ]}`, `[ 1 , 2 ]`},
		{"a list that is null", Config{Root: p("/l"), List: true}, `{"l":null,"m":1}`, `[]`},
		{"a whole text that is null", Config{List: true}, ` null `, ` []`},
		{"a list that is a map", Config{Root: p("/l"), List: true}, `{"l":{ "7" : {"a":1} , "9":2,"x" : [3 ] }}`, `[{"a":1} ,2,[3 ] ]`},
		{"a map without members", Config{Root: p("/l"), List: true}, `{"l":{ }}`, `[]`},
		{"an empty list", Config{List: true, skip: 1}, `[ ]`, `[]`},
		{"skip", Config{List: true, skip: 1}, `[1, 2, {"a":3}]`, `[ 2, {"a":3}]`},
		{"take", Config{List: true, take: 2}, `[1, 2 , {"a":3}]`, `[1, 2 ]`},
		{"skip and take", Config{List: true, skip: 1, take: 1}, `[[1], [2], [3]]`, `[ [2]]`},
		{"skip and take of a map", Config{List: true, skip: 1, take: 2}, `{"a":1, "b":2, "c":[3] , "d":4}`, `[2,[3] ]`},
		{"skip all", Config{List: true, skip: 9}, `[1, 2]`, `[]`},

		{"rename", Config{Rename: map[string]string{"aid": "id", "b": "c"}}, `{ "aid" : 1,"x":{"aid":2}, "b":3}`, `{ "id" : 1,"x":{"aid":2}, "c":3}`},
		{"rename to a name that needs quotes", Config{Rename: map[string]string{"a": "\"<\n"}}, `{"a":1}`, `{"\"<\n":1}`},
		{"rename over another", Config{Rename: map[string]string{"subject": "title"}}, `{"title":[1],"subject":2,"title":{"x":3}}`, `{"title":2}`},
		{"names changed round", Config{Rename: map[string]string{"a": "b", "b": "a"}}, `{"a":1,"b":2}`, `{"b":1,"a":2}`},
		{"drop the first", Config{Drop: []string{"a"}}, `{ "a" : [1 ] , "b":2}`, `{  "b":2}`},
		{"drop the last", Config{Drop: []string{"b"}}, "{\"a\":1,\n\"b\":2\n}", "{\"a\":1\n}"},
		{"drop between", Config{Drop: []string{"b"}}, `{"a":1, "b":{"c":[{}]}, "c":3}`, `{"a":1, "c":3}`},
		{"drop all", Config{Drop: []string{"a", "b"}}, `{"a":1,"b":"x"}`, `{}`},
		{"drop an escaped name", Config{Drop: []string{"a"}}, `{"\u0061":1,"b":2}`, `{"b":2}`},
		{"values", Config{Values: map[string]map[string]string{"st": {"1": "published", "x\"": "q\"", "true": "yes", "null": "none"}}},
			`{"st":1 ,"st":"1","st": "x\u0022","st":true,"st":null,"st":false,"st":10,"st":1.0,"st":["1"],"su":1,"st":{"st":1}}`,
			`{"st":"published" ,"st":"published","st": "q\"","st":"yes","st":"none","st":false,"st":10,"st":1.0,"st":["1"],"su":1,"st":{"st":1}}`},
		{"values of a renamed one", Config{Rename: map[string]string{"st": "state"}, Values: map[string]map[string]string{"st": {"0": "draft"}}}, `{"st":0}`, `{"state":"draft"}`},
		{"append", Config{ID: p("/aid"), Append: link}, `{"aid":12345678901234567890}`, `{"aid":12345678901234567890,"self":"number 12345678901234567890"}`},
		{"append to nothing", Config{ID: p("/aid"), Append: link}, `{ }`, `{ "self":"absent "}`},
		{"append after what was dropped", Config{Drop: []string{"self"}, ID: p("/m/1"), Append: link}, `{"self":1,"m":[0,"x\ty"]}`, "{\"m\":[0,\"x\\ty\"],\"self\":\"string x\ty\"}"},
		{"append when only a dropped one was there", Config{Drop: []string{"aid"}, ID: p("/aid"), Append: link}, `{"aid":"a\/b"}`, `{"self":"string a/b"}`},
		{"append nothing", Config{Append: func(dst []byte, _ Scalar) []byte { return dst }}, `{"a":1}`, `{"a":1}`},
		{"the id of each", Config{Root: p("/l"), List: true, ID: p("/id"), Append: link}, `{"l":[{"id":1},{"x":{"id":2}},{"id":"3","id":[]},7,{"id":null}]}`,
			`[{"id":1,"self":"number 1"},{"x":{"id":2},"self":"absent "},{"id":"3","id":[],"self":"array "},7,{"id":null,"self":"null null"}]`},
		{"the id behind a member that is repeated", Config{ID: p("/m/id"), Append: link}, `{"m":{"id":1},"m":{}}`, `{"m":{"id":1},"m":{},"self":"absent "}`},
		{"elements of a map", Config{List: true, skip: 1, Rename: map[string]string{"a": "b"}, Drop: []string{"c"}, Append: link},
			`{"1":{"a":1},"2":{"c":1,"a":2},"3":{"c":0}}`, `[{"b":2,"self":"absent "},{"self":"absent "}]`},
		{"around a list", Config{Root: p("/l"), List: true, Around: true, Rename: map[string]string{"a": "b"}, Drop: []string{"c"}, Append: link},
			`{"c":1,"a":1,"m":{"a":1}, "l" : [ {"a":1,"x":{"c":2}} , 2,{"c":3}],"z":[1]}`, `{"b":1,"m":{"a":1}, "l" : [ {"b":1,"x":{"c":2},"self":"absent "} , 2,{"self":"absent "}],"z":[1]}`},
		{"around an empty list", Config{Root: p("/l"), List: true, Around: true, Drop: []string{"c"}}, `{"c":0,"l":[ ]}`, `{"l":[ ]}`},
		{"around a list that is dropped", Config{Root: p("/l"), List: true, Around: true, Drop: []string{"l"}}, `{"l":[{"l":1},2],"a":1}`, `{"a":1}`},
		{"guarded", Config{Drop: []string{"c"}, DropAt: []Pointer{p("/m/d")}, Lift: []Lift{{Name: "t", From: p("/u/v")}}, Guard: []string{"c", "d", "u", "v"}},
			`{"c":{"c":1},"m":{"d":1,"e":[{"e":1}]},"u":{"v":1}}`, `{"m":{"e":[{"e":1}]},"u":{"v":1},"t":1}`},
		{"a guarded list", Config{Root: p("/l"), List: true, Drop: []string{"c"}, Guard: []string{"c"}}, `{"m":[{"c":1}],"l":[{"c":1,"x":[{"c":2}]},[[{"x":1}]]]}`, `[{"x":[{"c":2}]},[[{"x":1}]]]`},
		{"invalid UTF-8", Config{Drop: []string{"a"}}, "{\"b\xff\":\"\xc3\",\"a\":1}", "{\"b\xff\":\"\xc3\"}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pl := plan(t, c.conf)
			for _, size := range []int{1 << 20, 1, 2, 3, 5, 7} {
				out, e, err := edited(pl, c.in, size)
				if err != nil || out != c.out || !e.at.rootFound {
					t.Fatalf("in chunks of %d: %v\n%s\nwant\n%s", size, err, out, c.out)
				}
				e.Release()
			}
		})
	}
}

func TestCaptures(t *testing.T) {
	for _, c := range []struct {
		in   string
		at   string
		want Scalar
	}{
		{`{"a":{"t":"12"}}`, "/a/t", Scalar{Kind: String, Text: "12"}},
		{`{"a":{"t":-0.5E-2 }}`, "/a/t", Scalar{Kind: Number, Text: "-0.5E-2"}},
		{`{"a":{"t":true}}`, "/a/t", Scalar{Kind: Bool, Text: "true"}},
		{`{"a":{"t":null}}`, "/a/t", Scalar{Kind: Null, Text: "null"}},
		{`{"a":{"t":{}}}`, "/a/t", Scalar{Kind: Object, Empty: true}},
		{`{"a":{"t":[]}}`, "/a/t", Scalar{Kind: Array, Empty: true}},
		{`{"a":{"t":[ ]}}`, "/a/t", Scalar{Kind: Array, Empty: true}},
		{`{"a":{"t":[[]]}}`, "/a/t", Scalar{Kind: Array}},
		{`{"a":{"t":{"x":{}},"u":{}}}`, "/a/t", Scalar{Kind: Object}},
		{`{"a":{"t":"\u6587\n\ud800é"}}`, "/a/t", Scalar{Kind: String, Text: "文\n\uFFFDé"}},
		{"{\"a\":{\"t\":\"\xff\"}}", "/a/t", Scalar{Kind: String, Text: "\uFFFD"}},
		{`{"a":{"x":{"t":1}},"t":2}`, "/a/t", Scalar{}},
		{`{"a":{"t":1,"t":2}}`, "/a/t", Scalar{Kind: Number, Text: "2"}},
		{`{"a":{"t":1},"a":{}}`, "/a/t", Scalar{}},
		{`{"a":{"t":1},"a":3}`, "/a/t", Scalar{}},
		{`{"a":[5,{"t":[7,8]}]}`, "/a/1/t/1", Scalar{Kind: Number, Text: "8"}},
		{`{"a":{"1":6}}`, "/a/1", Scalar{Kind: Number, Text: "6"}},
		{`[1]`, "/-", Scalar{}},
		{`[1]`, "/00", Scalar{}},
		{`17`, "", Scalar{Kind: Number, Text: "17"}},
		{`"x"`, "", Scalar{Kind: String, Text: "x"}},
		{`{}`, "", Scalar{Kind: Object, Empty: true}},
		{`{"":{"":1}}`, "//", Scalar{Kind: Number, Text: "1"}},
		{`{"a":"` + strings.Repeat("é", 16) + `"}`, "/a", Scalar{Kind: String, Text: strings.Repeat("é", 16)}},
		{`{"a":"` + strings.Repeat(`\u0061`, 32) + `"}`, "/a", Scalar{Kind: String, Text: strings.Repeat("a", 32)}},
		{`{"a":"` + strings.Repeat("é", 16) + `x"}`, "/a", Scalar{Long: true}},
		{`{"a":"` + strings.Repeat("x", 5000) + `"}`, "/a", Scalar{Long: true}},
		{`{"a":` + strings.Repeat("1", 33) + `}`, "/a", Scalar{Long: true}},
	} {
		// The same whether it is passed on, dropped, skipped or outside.
		for _, conf := range []Config{{}, {List: true, skip: 5}, {Drop: []string{"a"}}, {Root: Pointer{"nowhere"}}} {
			conf.Capture, conf.MaxScalar = []Pointer{at(t, c.at), at(t, "/nothing"), at(t, c.at)}, 32
			for _, size := range []int{1 << 20, 1, 3} {
				_, e, err := edited(plan(t, conf), c.in, size)
				if err != nil && !errors.Is(err, ErrRoot) {
					t.Fatal(c.in, err)
				}
				if got := e.Captured(0); got != c.want || e.Captured(2) != c.want || e.Captured(1) != (Scalar{}) {
					t.Errorf("%s of %s is %v, want %v", c.at, c.in, got, c.want)
				}
			}
		}
	}
}

func TestElementsAreCountedPastTake(t *testing.T) {
	for in, want := range map[string]int64{`{"l":[1,[2,2],3,4]}`: 4, `{"l":{"a":1,"b":{},"c":3}}`: 3, `{"l":null}`: 0, `{"l":[]}`: 0} {
		for _, size := range []int{100, 1} {
			_, e, err := edited(plan(t, Config{Root: Pointer{"l"}, List: true, skip: 1, take: 1}), in, size)
			if err != nil || e.Elements() != want {
				t.Error(in, e.Elements(), err)
			}
		}
	}
}

func TestUnexpectedRootEmitsNothing(t *testing.T) {
	object := Config{Root: Pointer{"r"}, Drop: []string{"x"}}
	whole := Config{Drop: []string{"x"}}
	list := Config{Root: Pointer{"r"}, List: true}
	for _, c := range []struct {
		conf Config
		in   string
	}{
		{object, `{}`}, {object, `{"r":null}`}, {object, `{"r":[]}`}, {object, `{"s":{"r":{}}}`}, {object, `[]`}, {object, `3`},
		{list, `{"r":3}`}, {list, `{"r":"x"}`}, {list, `{"r":false}`}, {list, `{"R":[]}`},
		{whole, ` null `}, {whole, `[{"x":1}]`}, {whole, ` "x"`},
		{Config{Root: Pointer{"a", "b"}}, `{"a":[{"b":1}]}`},
	} {
		for _, size := range []int{100, 1} {
			out, e, err := edited(plan(t, c.conf), c.in, size)
			if !errors.Is(err, ErrRoot) || strings.TrimSpace(out) != "" || e.at.rootFound {
				t.Errorf("%s gives %q, %v", c.in, out, err)
			}
		}
	}
}

func TestDuplicateRootIsAnError(t *testing.T) {
	for _, in := range []string{`{"a":{"b":1,"b":2}}`, `{"a":{"b":1},"a":{}}`, `{"a":{"b":1},"a":2}`} {
		if out, _, err := edited(plan(t, Config{Root: Pointer{"a", "b"}}), in, 100); !errors.Is(err, ErrRoot) {
			t.Error(in, out, err)
		}
	}
	// The last one counts, and nothing was passed on before.
	if out, _, err := edited(plan(t, Config{Root: Pointer{"a", "b"}}), `{"a":1,"a":{"c":{"b":0}},"a":{"b":3}}`, 1); out != "3" || err != nil {
		t.Error(out, err)
	}
}

func TestPointers(t *testing.T) {
	for text, want := range map[string]Pointer{
		"": nil, "/": {""}, "/a": {"a"}, "/a/b/0": {"a", "b", "0"}, "/a~1b/~0/~01": {"a/b", "~", "~1"}, "//x": {"", "x"}, "/文": {"文"},
	} {
		got, err := ParsePointer(text)
		if err != nil || !slices.Equal(got, want) || got.String() != text {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"a": "begins with /", "#/a": "begins with /", "/a~": "~0 for ~", "/~2": "~0 for ~", "/\xff": "UTF-8", strings.Repeat("/a", 65): "at most 64 steps",
	} {
		if _, err := ParsePointer(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A text with an invalid byte must not be looked through again for each of its characters.
func TestLongInvalidTextIsDecodedLinearly(t *testing.T) {
	text := strings.Repeat("é", 1<<20) + "\xff"
	if got := unquote(nil, []byte(text)); string(got) != text[:2<<20]+"\ufffd" {
		t.Errorf("%d bytes that end in %q", len(got), got[len(got)-4:])
	}
}

// What is to be dropped does not pass where the edits do not reach it.
func TestGuardedNameOutsideTheEditedObjectsIsRefused(t *testing.T) {
	document := Config{Drop: []string{"c"}, DropAt: []Pointer{at(t, "/m/d")}, Guard: []string{"c", "d", "u"}}
	around := document
	around.Root, around.List, around.Around = at(t, "/l"), true, true
	list := document
	list.List = true
	inside := document
	inside.Root = at(t, "/r")
	for _, c := range []struct {
		conf Config
		in   string
	}{
		{document, `{"rows":[{"a":1},{"c":"hidden"}]}`}, {document, `{"1":{"c":"hidden"}}`}, {document, `{"x":{"y":[[{"\u0063":"hidden"}]]}}`},
		{document, `{"rows":[{"m":{"d":"hidden"}}]}`}, {document, `{"rows":[{"u":"hidden"}]}`},
		{around, `{"l":[{"a":1}],"k":[{"c":"hidden"}]}`}, {around, `{"l":[[{"c":"hidden"}]]}`}, {around, `{"k":{"c":"hidden"},"l":[]}`},
		{list, `[[{"c":"hidden"}]]`}, {list, `{"x":[{"c":"hidden"}]}`}, {inside, `{"r":{"x":[{"c":"hidden"}]}}`},
	} {
		for _, size := range []int{1, 3, 100} {
			if out, _, err := edited(plan(t, c.conf), c.in, size); !errors.Is(err, ErrOutside) || strings.Contains(out, "hidden") {
				t.Errorf("%s in chunks of %d: %v %s", c.in, size, err, out)
			}
		}
	}
	if _, err := Compile(Config{List: true, Around: true}); err == nil {
		t.Error("Around of nothing is accepted")
	}
	for _, in := range []string{`{"l":null}`, `{"l":{"1":{"c":1}}}`, `{"l":[],"l":[{"c":1}]}`, `[{"l":[]}]`} {
		if out, _, err := edited(plan(t, around), in, 100); !errors.Is(err, ErrRoot) || strings.Contains(out, "c") {
			t.Errorf("%s: %v %s", in, err, out)
		}
	}
}
