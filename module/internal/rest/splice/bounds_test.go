package splice

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestInvalidJSONIsRefusedAtItsFirstWrongByte(t *testing.T) {
	for text, offset := range map[string]int64{
		`{"a":NaN}`: 5, `Infinity`: 0, `[-Infinity]`: 2, `{'a':1}`: 1, `{"a":1,}`: 7, `[1,]`: 3, `[1 2]`: 3, `{"a" 1}`: 5, `{a:1}`: 1, `01`: 1, `+1`: 0, `1.e`: 2,
		`1ee`: 2, `"\x"`: 2, `"\u12g4"`: 5, "\"\n\"": 1, `[1]]`: 3, `{} {}`: 3, `/**/1`: 0, `tRue`: 1, `nulL`: 3, "\xef\xbb\xbf1": 0, `[}`: 1, `{]`: 1, `[1}`: 2, "\v1": 0, `<b>{}`: 0,
	} {
		for _, size := range []int{100, 1} {
			_, e, err := edited(plan(t, Config{}), text, size)
			var wrong *syntaxError
			if !errors.As(err, &wrong) || !errors.Is(err, ErrSyntax) || wrong.offset != offset || wrong.expected == "" {
				t.Errorf("%s in chunks of %d: %v, want one at %d", text, size, err, offset)
			}
			if _, again := e.Write([]byte(" ")); again != err || e.Close() != err {
				t.Errorf("%s: the error does not stay: %v", text, again)
			}
		}
	}
}

func TestTruncatedJSONIsIncomplete(t *testing.T) {
	for _, text := range []string{``, ` `, `{`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `[`, `[1`, `"`, `"\`, `"\u0`, `tru`, `-`, `1.`, `1e+`} {
		if _, _, err := edited(plan(t, Config{Drop: []string{"a"}}), text, 100); !errors.Is(err, ErrIncomplete) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestDepthIsLimited(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`[{"a":`, n/2) + "1" + strings.Repeat("}]", n/2) }
	for depth, c := range map[int]Config{128: {}, 10: {maxDepth: 10, Capture: []Pointer{{"0", "a", "0", "a"}}}} {
		if _, _, err := edited(plan(t, c), nested(depth), 100); err != nil {
			t.Error(depth, err)
		}
		if _, _, err := edited(plan(t, c), nested(depth+2), 100); !errors.Is(err, ErrDepth) {
			t.Error(depth+2, err)
		}
	}
}

// TestEditorMemoryDependsOnlyOnDepth: names, scalars and white space of any length, in many
// chunks, with everything declared that makes an editor hold back.
func TestEditorMemoryDependsOnlyOnDepth(t *testing.T) {
	p := plan(t, Config{
		Capture: []Pointer{{"s"}, {"n"}}, Values: map[string]map[string]string{"s": {"x": "y"}, "n": {"1": "2"}}, ID: Pointer{"s"},
		Rename: map[string]string{"s": "S"}, Drop: []string{"d"}, Append: link,
	})
	chunk := bytes.Repeat([]byte("1"), 64<<10)
	space := bytes.Repeat([]byte(" "), 64<<10)
	e := p.New(io.Discard)
	for _, part := range []struct{ head, body, tail string }{
		{`{`, string(space), `"`}, {``, string(chunk), `":"`}, {``, string(chunk), `","s":"`}, {``, string(chunk), `","n":`}, {``, string(chunk), `,`},
		{``, string(space), `"d":"`}, {``, string(chunk), `"`}, {``, string(space), `}`},
	} {
		for _, text := range []string{part.head, part.body, part.body, part.body, part.tail} {
			if _, err := e.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			if held := cap(e.held.earlier) + cap(e.captured.earlier) + cap(e.text) + cap(e.out.buffer); held > 96<<10 {
				t.Fatalf("%d bytes are held", held)
			}
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if got := e.Captured(0); !got.Long {
		t.Error(got)
	}
	e.Release()
	if held := cap(e.held.earlier) + cap(e.captured.earlier) + cap(e.text) + cap(e.out.buffer); held > 3*maxKept+outSize {
		t.Errorf("%d bytes are kept", held)
	}
}

func TestAllocationsDoNotGrowWithTheText(t *testing.T) {
	p := plan(t, Config{
		Root: Pointer{"result", "list"}, List: true, Rename: map[string]string{"aid": "id"}, Drop: []string{"author", "tags"},
		Values: map[string]map[string]string{"state": {"0": "draft"}}, Capture: []Pointer{{"success"}},
	})
	for _, n := range []int{1, 1000} {
		text := articles(n, " ")
		if got := testing.AllocsPerRun(20, func() {
			e := p.New(io.Discard)
			for at := 0; at < len(text); at += 1000 {
				if _, err := e.Write(text[at:min(len(text), at+1000)]); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e.Release()
		}); got > 10 { // under -race a sync.Pool forgets on purpose
			t.Errorf("%d elements: %v allocations", n, got)
		}
	}
}

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after -= len(p); f.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestFailingWriterEndsTheEditor(t *testing.T) {
	e := plan(t, Config{}).New(&failing{10})
	if _, err := e.Write([]byte(`["1234"`)); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Write([]byte(`,"1234"`)); !errors.Is(err, io.ErrClosedPipe) {
		t.Fatal(err)
	}
	if _, err := e.Write([]byte(`]`)); !errors.Is(err, io.ErrClosedPipe) || !errors.Is(e.Close(), io.ErrClosedPipe) {
		t.Fatal("the error does not stay")
	}
}

func TestReleasedEditorKeepsNothing(t *testing.T) {
	p := plan(t, Config{Capture: []Pointer{{"a"}}, Drop: []string{"b"}})
	e := p.New(io.Discard)
	if _, err := e.Write([]byte(`{"a":"secret","b":{"c":[`)); err != nil {
		t.Fatal(err)
	}
	e.Release()
	if e.out.chunk != nil || e.captured.slots[0] != (Scalar{}) || len(e.at.frames)+len(e.scanner.arrays)+e.scanner.depth != 0 || e.out.err != nil {
		t.Errorf("%+v", e)
	}
}

func TestLargeBufferIsNotKept(t *testing.T) {
	large := strings.Repeat("x", 64<<10)
	p := plan(t, Config{Append: func(dst []byte, _ Scalar) []byte { return append(append(append(dst, `"x":"`...), large...), '"') }})
	out, e, err := edited(p, `{}`, 1)
	if err != nil || out != `{"x":"`+large+`"}` {
		t.Fatal(len(out), err)
	}
	if e.Release(); cap(e.text) > maxKept {
		t.Errorf("%d bytes are kept", cap(e.text))
	}
}

func TestInvalidEditorConfigsAreRefused(t *testing.T) {
	for _, c := range []struct {
		conf Config
		want string
	}{
		{Config{skip: 1}, "for a List"},
		{Config{take: 1}, "for a List"},
		{Config{List: true, take: -1}, "take is -1"},
		{Config{maxDepth: -1}, "maxDepth is -1"},
		{Config{MaxScalar: -1}, "MaxScalar is -1"},
		{Config{Rename: map[string]string{"a": "c", "b": "c"}}, "'a' and 'b' are both renamed to 'c'"},
		{Config{Rename: map[string]string{"a": "\xff"}}, "not UTF-8"},
		{Config{Rename: map[string]string{"a": "b"}, Drop: []string{"a"}}, "renamed and dropped"},
		{Config{Values: map[string]map[string]string{"a": nil}, Drop: []string{"a"}}, "has values and is dropped"},
		{Config{Values: map[string]map[string]string{"b": nil}, Rename: map[string]string{"a": "b"}}, "'b' has values, and is dropped since 'a' is renamed to it"},
	} {
		if _, err := Compile(c.conf); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.conf, err)
		}
	}
	for _, c := range []Config{
		{Rename: map[string]string{"a": "b", "b": "a"}, Values: map[string]map[string]string{"a": nil, "b": nil}},
		{Rename: map[string]string{"a": "a"}, Values: map[string]map[string]string{"a": nil}},
	} {
		if _, err := Compile(c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
