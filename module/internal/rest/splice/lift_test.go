package splice

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// R10: values inside a resource become members of it, whatever the chunks they come in.
func TestNestedValuesAreLiftedAndDropped(t *testing.T) {
	links := func(dst []byte, id Scalar) []byte { return append(dst, `"links":["`+id.Text+`"]`...) }
	text := Lift{Name: "text", From: Pointer{"revisions", "0", "slots", "main", "content"}}
	by := Lift{Name: "by", From: Pointer{"revisions", "0", "user"}, Values: map[string]string{"1": "root"}}
	for name, c := range map[string]struct {
		config   Config
		in, want string
	}{
		"streamed out of what is dropped": {Config{Lift: []Lift{text, by}, Drop: []string{"revisions"}, ID: Pointer{"id"}, Append: links},
			`{"id":7,"revisions":[{"user":1,"slots":{"main":{"content":"a\"b","x":2}}},{"user":3}],"z":1}`, `{"id":7,"by":"root","text":"a\"b","z":1,"links":["7"]}`},
		"first, and an object": {Config{Lift: []Lift{text}, Drop: []string{"revisions"}}, `{"revisions":[{"slots":{"main":{"content":{"a":[1,{}]}}}}],"z":1}`, `{"text":{"a":[1,{}]},"z":1}`},
		"alone":                {Config{Lift: []Lift{text}, Drop: []string{"revisions"}}, `{"revisions":[{"slots":{"main":{"content":[]}}}]}`, `{"text":[]}`},
		"absent":               {Config{Lift: []Lift{text}, Drop: []string{"revisions"}}, `{"a":1,"revisions":[]}`, `{"a":1}`},
		"absent altogether":    {Config{Lift: []Lift{text}}, `{ }`, `{ }`},
		"copied out of what passes": {Config{Lift: []Lift{text, by}, ID: Pointer{"id"}, Append: links},
			`{"id":7,"revisions":[{"user":1,"slots":{"main":{"content":"ab"}}}],"text":"theirs"}`,
			`{"id":7,"revisions":[{"user":"root","slots":{"main":{"content":"ab"}}}],"by":"root","text":"ab","links":["7"]}`},
		"copied, an object":  {Config{Lift: []Lift{{Name: "b", From: Pointer{"a", "b"}}}}, `{"a":{"b":{"c":[1, 2]} }}`, `{"a":{"b":{"c":[1, 2]} },"b":{"c":[1, 2]}}`},
		"moved":              {Config{Lift: []Lift{{Name: "b", From: Pointer{"a", "b"}}}, DropAt: []Pointer{{"a", "b"}}}, `{"a":{"b":[1],"c":2},"d":3}`, `{"a":{"c":2},"d":3,"b":[1]}`},
		"in its own place":   {Config{Lift: []Lift{{Name: "title", From: Pointer{"title", "rendered"}}}}, `{"title":{"raw":"r","rendered":"R"},"id":1}`, `{"title":"R","id":1}`},
		"a name moves away":  {Config{Lift: []Lift{{Name: "a", From: Pointer{"m", "a"}}}, Rename: map[string]string{"a": "old"}}, `{"a":1,"m":{"a":2}}`, `{"old":1,"m":{"a":2},"a":2}`},
		"dropped inside":     {Config{DropAt: []Pointer{{"a", "b"}, {"a", "d"}, {"e", "0", "f"}}}, `{"a":{"b":1,"c":2,"d":[3]},"e":[{"f":1},{"f":2}]}`, `{"a":{"c":2},"e":[{},{"f":2}]}`},
		"dropped in dropped": {Config{Drop: []string{"a"}, DropAt: []Pointer{{"a", "b"}}}, `{"a":{"b":1,"c":2},"d":3}`, `{"d":3}`},
		"dropped in lifted":  {Config{Lift: []Lift{{Name: "l", From: Pointer{"a", "b"}}}, Drop: []string{"a"}, DropAt: []Pointer{{"a", "b", "c"}}}, `{"a":{"b":{"c":1,"d":2}}}`, `{"l":{"d":2}}`},
		"dropped in copied": {Config{Lift: []Lift{{Name: "l", From: Pointer{"a", "b"}}, text}, DropAt: []Pointer{{"a", "b", "c"}, {"a", "b", "e", "0", "f"}, {"revisions", "0", "slots", "main", "content", "s"}}},
			`{"a":{"b":{"c":[{}],"d":2 , "e":[{"f":1},{"f":2}]}},"revisions":[{"slots":{"main":{"content":{"s":1}}}}]}`,
			`{"a":{"b":{"d":2 , "e":[{},{"f":2}]}},"revisions":[{"slots":{"main":{"content":{}}}}],"l":{"d":2 , "e":[{},{"f":2}]},"text":{}}`},
		"dropped in moved": {Config{Lift: []Lift{{Name: "l", From: Pointer{"a", "b"}}}, DropAt: []Pointer{{"a", "b"}, {"a", "b", "c"}}}, `{"a":{"b":{"d":1,"\u0063":2}},"l":0}`, `{"a":{},"l":{"d":1}}`},
		"in a list": {Config{List: true, Root: Pointer{"rows"}, skip: 1, take: 1, Lift: []Lift{{Name: "b", From: Pointer{"a", "b"}}}, Drop: []string{"a"}},
			`{"rows":[{"a":{"b":1}},{"a":{"b":2}},{"a":{"b":3}},7]}`, `[{"b":2}]`},
		"in a list of an object": {Config{List: true, Lift: []Lift{{Name: "b", From: Pointer{"a", "b"}}}}, `{"x":{"a":{"b":1}},"y":{"a":{"b":{}}},"z":null}`, `[{"a":{"b":1},"b":1},{"a":{"b":{}},"b":{}},null]`},
		"what has another shape": {Config{Lift: []Lift{text}}, `{"revisions":{"0":{"slots":[1]}}}`, `{"revisions":{"0":{"slots":[1]}}}`},
	} {
		plan, err := Compile(c.config)
		if err != nil {
			t.Fatal(name, err)
		}
		for size := 1; size <= len(c.in); size++ {
			var out bytes.Buffer
			e := plan.New(&out)
			for rest := []byte(c.in); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				if _, err := e.Write(rest[:min(size, len(rest))]); err != nil {
					t.Fatal(name, size, err)
				}
			}
			if err := e.Close(); err != nil || out.String() != c.want || !json.Valid(out.Bytes()) {
				t.Fatalf("R10 %s, %d bytes at a time: %v\n%s, want\n%s", name, size, err, out.String(), c.want)
			}
			e.Release()
		}
	}
}

func TestLiftedValuesAreBounded(t *testing.T) {
	config := Config{Lift: []Lift{{Name: "b", From: Pointer{"a", "b"}}}}
	run := func(c Config, n int) (int, error) {
		plan, err := Compile(c)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		e := plan.New(&out)
		defer e.Release()
		in := `{"a":{"b":"` + strings.Repeat("x", n) + `"}}`
		for len(in) > 0 && err == nil {
			_, err = e.Write([]byte(in[:min(4096, len(in))]))
			in = in[min(4096, len(in)):]
		}
		if err == nil {
			err = e.Close()
		}
		return out.Len(), err
	}
	room := maxLifted - len(`,"b":""`)
	if n, err := run(config, room); err != nil || n < 2*room {
		t.Errorf("R10 at the bound: %d bytes, %v", n, err)
	}
	if _, err := run(config, room+1); !errors.Is(err, ErrLifted) {
		t.Errorf("R10 beyond the bound: %v", err)
	}
	config.Drop = []string{"a"}
	if n, err := run(config, 8*maxLifted); err != nil || n < 8*maxLifted {
		t.Errorf("R10 out of what is dropped: %d bytes, %v", n, err)
	}
}

func TestConflictingLiftsAreRefused(t *testing.T) {
	for want, c := range map[string]Config{
		"two steps at least":        {Lift: []Lift{{Name: "a", From: Pointer{"b"}}}},
		"expected a pointer of two": {DropAt: []Pointer{{"b"}}},
		"from two places":           {Lift: []Lift{{Name: "a", From: Pointer{"b", "c"}}, {Name: "a", From: Pointer{"b", "d"}}}},
		"both renamed and lifted":   {Lift: []Lift{{Name: "a", From: Pointer{"b", "c"}}}, Rename: map[string]string{"x": "a"}},
		"one is in the other":       {Lift: []Lift{{Name: "a", From: Pointer{"b", "c"}}, {Name: "d", From: Pointer{"b", "c", "e"}}}},
	} {
		if _, err := Compile(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("R10 %v, want %s", err, want)
		}
	}
}

// FuzzLift holds the editor to what decoding, changing and encoding would make of a text.
func FuzzLift(f *testing.F) {
	f.Add([]byte(`{"a":{"b":1,"c":{"d":[2]}},"e":3}`), uint8(3))
	f.Add([]byte(`{"a":[{"b":1}],"l":2,"g":{"h":1,"i":{}}}`), uint8(1))
	f.Add([]byte(`{"g":{"h":{"k":[1],"n":{}},"i":2}}`), uint8(2))
	plan, err := Compile(Config{
		Lift: []Lift{{Name: "l", From: Pointer{"a", "b"}}, {Name: "m", From: Pointer{"g", "h"}}}, Drop: []string{"a"}, DropAt: []Pointer{{"g", "i"}, {"g", "h", "k"}},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		var want map[string]any
		if json.Unmarshal(in, &want) != nil || want == nil || bytes.ContainsRune(in, '\\') || repeats(in) {
			return
		}
		var out bytes.Buffer
		e := plan.New(&out)
		defer e.Release()
		for rest := in; len(rest) > 0; {
			n := min(int(size)+1, len(rest))
			if _, err := e.Write(rest[:n]); err != nil {
				return // what it refuses is another test's
			}
			rest = rest[n:]
		}
		if e.Close() != nil {
			return
		}
		a, _ := want["a"].(map[string]any)
		g, _ := want["g"].(map[string]any)
		for _, name := range []string{"a", "l", "m"} {
			delete(want, name)
		}
		if b, ok := a["b"]; ok {
			want["l"] = b
		}
		if h, ok := g["h"]; ok {
			want["m"] = h
			if inside, ok := h.(map[string]any); ok {
				delete(inside, "k")
			}
		}
		delete(g, "i")
		var got map[string]any
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, %s", in, err, out.Bytes())
		}
	})
}

// repeats reports whether an object may have a name twice: any two equal strings before a colon.
func repeats(in []byte) bool {
	seen := map[string]bool{}
	for _, part := range bytes.Split(in, []byte(":")) {
		part = bytes.TrimRight(part, " \t\r\n")
		if at := bytes.LastIndexByte(bytes.TrimSuffix(part, []byte(`"`)), '"'); at >= 0 {
			if seen[string(part[at:])] {
				return true
			}
			seen[string(part[at:])] = true
		}
	}
	return false
}
