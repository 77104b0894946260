package splice

import (
	"errors"
	"strings"
	"testing"
)

func TestResourceFurtherInsideIsRefused(t *testing.T) {
	p := func(text string) Pointer { return at(t, text) }
	document := Config{
		Drop: []string{"c"}, DropAt: []Pointer{p("/m/d")}, Rename: map[string]string{"n": "id"}, Lift: []Lift{{Name: "t", From: p("/u/v")}},
		Seek: []Sought{{p("/c"), true}, {p("/m/d"), true}, {p("/n"), false}, {p("/u/v"), false}},
	}
	list := document
	list.List = true
	around := list
	around.Root, around.Around = p("/l"), true
	for _, c := range []struct {
		conf    Config
		in, out string // out "": refused
		at      string
	}{
		{document, `{"n":1,"c":2,"m":{"d":3},"x":{"n":4}}`, `{"id":1,"m":{},"x":{"n":4}}`, ""},
		{document, `{"x":{"n":4,"c":5},"n":1,"c":2}`, `{"x":{"n":4,"c":5},"id":1}`, ""},
		{document, `{"n":1,"x":{"m":{"e":5}}}`, `{"id":1,"x":{"m":{"e":5}}}`, ""},
		{document, `{"n":1,"x":{"u":{"v":5},"d":6}}`, `{"id":1,"x":{"u":{"v":5},"d":6}}`, ""},
		{document, `{"u":{"v":1},"x":{"n":5}}`, `{"u":{"v":1},"x":{"n":5},"t":1}`, ""},
		{document, `{"c":{"n":5}}`, `{}`, ""},
		{document, `{"x":1}`, `{"x":1}`, ""},
		{document, `{"data":{"c":"hidden"}}`, "", ": /data/c"},
		{document, `{"data":{"n":1,"x":{}}}`, "", ": /data/n"},
		{document, `{"data":{"u":{"v":"hidden"}}}`, "", ": /data/u/v"},
		{document, `{"n":1,"data":{"\u0063":"hidden"}}`, "", ": /data/c"}, // the n of a wrapper
		{document, `{"n":1,"c":2,"data":{"m":{"d":"hidden"}}}`, "", ": /data/m/d"},
		{document, `{"data":[{"x":1},{"y":{},"c":"hidden"}],"total":1}`, "", ": /data/1/c"},
		{document, `{"a":{"b":[[{"x":{}},{"c":"hidden"}]]}}`, "", ": /a/b/0/1/c"},
		{list, `[{"n":1,"c":2},{"x":{"c":3,"n":4}}]`, `[{"id":1},{"x":{"c":3,"n":4}}]`, ""},
		{list, `[{"x":{"c":3}},{"n":1,"c":2}]`, `[{"x":{"c":3}},{"id":1}]`, ""},
		{list, `[{"n":1,"attributes":{"c":"hidden"}}]`, "", ": /attributes/c"},
		{around, `{"n":1,"c":2,"l":[{"x":{"n":4}}]}`, "", ": /x/n"},
		{around, `{"l":[{"n":1,"x":{"n":4}}]}`, `{"l":[{"id":1,"x":{"n":4}}]}`, ""},
	} {
		compiled := plan(t, c.conf)
		for _, size := range []int{1, 3, 100} {
			out, e, err := edited(compiled, c.in, size)
			if c.out != "" && (err != nil || out != c.out) || c.out == "" && (!errors.Is(err, ErrWrapped) || !strings.HasSuffix(err.Error(), c.at)) {
				t.Errorf("%s in chunks of %d: %v %s", c.in, size, err, out)
			}
			e.Release()
		}
		if c.out != "" {
			continue
		}
		var b strings.Builder
		e := compiled.New(&b)
		if err := e.Commit(); err != nil {
			t.Error(err)
		}
		if _, err := e.Write([]byte(c.in)); !errors.Is(err, ErrWrapped) || strings.Contains(b.String(), "hidden") {
			t.Errorf("%s, what was passed on cannot be taken back: %v %s", c.in, err, b.String())
		}
		e.Release()
	}
	e := plan(t, document).New(new(strings.Builder))
	if _, err := e.Write([]byte(`{"n":1,"c":2,`)); err != nil || e.Settled() {
		t.Error(err, e.Settled())
	}
	if _, err := e.Write([]byte(`"m":{"d":3},"x":{"`)); err != nil || !e.Settled() {
		t.Error(err, e.Settled())
	}
	if _, err := e.Write([]byte(`c":3}`)); err != nil || e.Commit() != nil {
		t.Error(err)
	}
}
