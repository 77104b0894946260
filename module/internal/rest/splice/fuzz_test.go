package splice

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// self appends what shows the id.
func self(dst []byte, id Scalar) []byte {
	text, err := json.Marshal(id.Kind.String() + id.Text)
	if err != nil {
		panic(err)
	}
	return append(append(dst, `"self":`...), text...)
}

// fuzzed are plans over the names a to d.
var fuzzed = func() (list []Config) {
	for _, root := range []Pointer{nil, {"a"}, {"b", "0"}, {"a", "b"}} {
		for _, c := range []Config{
			{},
			{Drop: []string{"a", "c"}},
			{Rename: map[string]string{"a": "b", "c": "long name \""}, Values: map[string]map[string]string{"a": {"1": "one", "x": "", "true": "\n"}, "d": {"d": "a"}}},
			{Rename: map[string]string{"a": "b", "b": "a"}, ID: Pointer{"b"}, Append: self},
			{Drop: []string{"self", "a"}, ID: Pointer{"a", "1"}, Append: self},
			{Append: func(dst []byte, id Scalar) []byte { return dst }},
		} {
			c.Root = root
			c.Capture = []Pointer{{"a"}, {"a", "b"}, {"b", "0", "c"}, nil, {"d"}}
			c.maxDepth, c.MaxScalar = 10_000, 1000
			list = append(list, c)
			c.List = true
			list = append(list, c)
			c.skip = 1
			list = append(list, c)
			c.take = 2
			list = append(list, c)
		}
	}
	return list
}()

var fuzzedPlans = func() (list []*Plan) {
	for _, c := range fuzzed {
		p, err := Compile(c)
		if err != nil {
			panic(err)
		}
		list = append(list, p)
	}
	return list
}()

// chunks are sizes from a seed, most of them small.
func chunks(seed uint64) []int {
	sizes := make([]int, 0, 16)
	for range 16 {
		seed = seed*6364136223846793005 + 1442695040888963407
		sizes = append(sizes, 1+int(seed>>33)%[...]int{1, 3, 9, 200}[seed>>62])
	}
	return sizes
}

var seeds = []string{
	`{}`, `[]`, `null`, ` 1 `, `-0.5e+3`, `"x"`, `tru`, `[1,]`, `{"a":}`, `{"a":1,}`, `[01]`, `1.`, `-`, `1e`, `"\u00zz"`, `"\x"`, "\"\x01\"", "\"\xff\"", `NaN`, `'a'`, `[1 2]`, `{} {}`, `//x`,
	`{"a":{"b":[{"c":1}],"b":2},"a":3,"b":["x",{"c":"y"}],"d":"d"}`, `{ "a" : 1 , "b" : 2 , "c":[ ] , "d" : { } }`,
	`{"a":[{"a":1,"b":"x","c":null,"d":"d"},{"a":"1","self":2},3,{"a":[1,"i"]},{}]}`, `{"a":{"1":{"a":1},"2":{"b":2,"c":3},"3":{}}}`,
	`{"\u0061":{"\u0062":"\ud83d\ude00\ud800\u0000\/"}}`, `{"b":[{"a":true,"c":12345678901234567890},{"a":"\u0078"}]}`,
	`[{"a":0},{"b":1,"a":1},{"c":2,"a":"x"},{"d":"d"}]`, `{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`,
	`{"a` + strings.Repeat("x", 90) + `":1,    "a"` + strings.Repeat(" ", 300) + `:"` + strings.Repeat("x", 1200) + `"}`,
}

func FuzzEditor(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), uint64(i), uint(7*i))
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64, which uint) {
		same(t, text, seed, which%uint(len(fuzzed)))
	})
}

func TestEveryPlanMatchesDecodeEditEncode(t *testing.T) {
	for i, s := range seeds {
		for which := range fuzzed {
			same(t, []byte(s), uint64(i), uint(which))
		}
	}
}

// same holds one text in one chunk, in several, and with an editor that was used.
func same(t *testing.T, text []byte, seed uint64, which uint) {
	t.Helper()
	c, p := fuzzed[which], fuzzedPlans[which]
	out, e, err := edited(p, string(text), max(1, len(text)))
	got, e2, err2 := edited(p, string(text), chunks(seed)...)
	if fmt.Sprint(err) != fmt.Sprint(err2) || err == nil && (out != got || !reflect.DeepEqual(e.captured.slots, e2.captured.slots) || e.at.elements != e2.at.elements) {
		t.Fatalf("in chunks of %d: %q %v %v, in one %q %v %v", chunks(seed), got, e2.captured.slots, err2, out, e.captured.slots, err)
	}
	compare(t, c, text, out, e, err)
	e.Release()
	e2.Release()
	if again, _, err3 := edited(p, string(text), chunks(seed+1)...); fmt.Sprint(err) != fmt.Sprint(err3) || err == nil && again != out {
		t.Fatalf("with a used editor: %q %v, with a new one %q %v", again, err3, out, err)
	}
}

// compare holds what an editor did against encoding/json.
func compare(t testing.TB, c Config, text []byte, out string, e *Editor, err error) {
	t.Helper()
	twice := err == errTwice
	if valid := json.Valid(text); !twice && valid != (err == nil || errors.Is(err, ErrRoot)) {
		t.Fatalf("%v, but encoding/json says valid: %v", err, valid)
	}
	var syntax *syntaxError
	if errors.As(err, &syntax) && (syntax.offset < 0 || syntax.offset >= int64(len(text))) {
		t.Fatalf("an error at %d of %d", syntax.offset, len(text))
	}
	if err != nil && !errors.Is(err, ErrRoot) || twice && !json.Valid(text) {
		return
	}
	tree := parse(t, text)
	root, repeated := tree.find(c.Root)
	if twice {
		if !repeated {
			t.Fatal("nothing is there twice")
		}
		return
	}
	for i, place := range c.Capture {
		v, _ := tree.find(place)
		if got, want := e.Captured(i), v.scalar(1000); got != want {
			t.Fatalf("%s is %v, want %v", place, got, want)
		}
	}
	right := root != nil && (!c.edits() || root.kind == Object)
	if c.List {
		right = root != nil && (root.kind == Array || root.kind == Object || root.kind == Null)
	}
	if right != (err == nil) {
		t.Fatalf("%v, root %v", err, root)
	}
	if !right {
		if strings.TrimSpace(out) != "" {
			t.Fatalf("%q is passed on", out)
		}
		return
	}
	if want := int64(len(root.members)); c.List && e.Elements() != want {
		t.Fatalf("%d elements, want %d", e.Elements(), want)
	}
	if !json.Valid([]byte(out)) {
		t.Fatalf("no JSON comes out: %q", out)
	}
	if got, want := parse(t, []byte(out)), expected(t, c, root); got.String() != want.String() {
		t.Fatalf("%s\nis %v\nwant %v", out, got, want)
	}
	if reflect.DeepEqual(c.Root, Pointer(nil)) && !c.edits() && !c.List && out != string(text) {
		t.Fatalf("%q is not as it was", out)
	}
	if compact := new(bytes.Buffer); json.Compact(compact, []byte(out)) != nil {
		t.Fatal("not compactable")
	}
}
