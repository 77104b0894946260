package batch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/module/internal/rest/batch"
)

var declared = batch.Config{Fields: []string{"title", "tags", "a/b~c"}}

func TestBatchItemsAreParsedAndTheFirstErrorNamed(t *testing.T) {
	const good = `{"id":1,"op":"replace","path":"/title","value":"x"}`
	for _, c := range []struct {
		body   string
		status int
		field  string
	}{
		{`[` + good + `]`, 0, ""},
		{` [ ` + good + ` , {"path":"/tags","op":"remove","id":"a b"} ] `, 0, ""},
		{`[{"id":1,"op":"replace","path":"/a~1b~0c","value":null}]`, 0, ""},
		{`[{"id":"\u0061","op":"replac\u0065","path":"/t\u0069tle","value":[1]}]`, 0, ""},
		{``, 400, ""}, {`null`, 400, ""}, {`{}`, 400, ""}, {`[`, 400, ""}, {`[]`, 400, ""}, {`[` + good + `] x`, 400, ""}, {"[\"\xff\"]", 400, ""},
		{`[` + strings.TrimSuffix(strings.Repeat(good+",", 101), ",") + `]`, 413, ""},
		{`[` + good + `,7]`, 400, "/1"},
		{`[` + good + `,null]`, 400, "/1"},
		{`[` + good + `,{}]`, 400, "/1/id"},
		{`[{"id":null,"op":"replace","path":"/title","value":1}]`, 400, "/0/id"},
		{`[{"id":"","op":"replace","path":"/title","value":1}]`, 400, "/0/id"},
		{`[{"id":1.0,"op":"replace","path":"/title","value":1}]`, 400, "/0/id"},
		{`[{"id":1e2,"op":"replace","path":"/title","value":1}]`, 400, "/0/id"},
		{`[{"id":"\ud800","op":"replace","path":"/title","value":1}]`, 400, "/0/id"},
		{`[{"id":"` + strings.Repeat("x", 513) + `","op":"replace","path":"/title","value":1}]`, 400, "/0/id"},
		{`[{"id":true,"op":"replace","path":"/title","value":1}]`, 400, "/0/id"},
		{`[` + good + `,` + good + `,` + good + `,{"id":1,"op":"add","path":"/title","value":1}]`, 400, "/3/op"},
		{`[{"id":1,"op":"Replace","path":"/title","value":1}]`, 400, "/0/op"},
		{`[{"id":1,"path":"/title","value":1}]`, 400, "/0/op"},
		{`[{"id":1,"op":"replace","path":"/title"}]`, 400, "/0/value"},
		{`[{"id":1,"op":"remove","path":"/title","value":null}]`, 400, "/0/value"},
		{`[{"id":1,"op":"replace","path":"title","value":1}]`, 400, "/0/path"},
		{`[{"id":1,"op":"replace","path":"","value":1}]`, 400, "/0/path"},
		{`[{"id":1,"op":"replace","path":"/","value":1}]`, 400, "/0/path"},
		{`[{"id":1,"op":"replace","path":"/author","value":1}]`, 400, "/0/path"},
		{`[{"id":1,"op":"replace","path":"/title/0","value":1}]`, 400, "/0/path"},
		{`[{"id":1,"op":"replace","path":"/a/b~c","value":1}]`, 400, "/0/path"},
		{`[{"id":1,"op":"replace","path":"/title","value":1,"from":"/x"}]`, 400, "/0/from"},
		{`[{"id":1,"op":"remove","op":"replace","path":"/title","value":1}]`, 400, "/0/op"},
		{`[{"id":1,"op":"replace","path":"/title","value":{"a":1,"a":2}}]`, 400, "/0/value/a"},
		{`[{"id":1,"op":"replace","path":"/title","value":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}]`, 400, "/0"},
	} {
		items, refused := batch.Parse([]byte(c.body), declared)
		if c.status == 0 {
			if refused != nil || len(items) == 0 {
				t.Errorf("%.80s: refused: %v", c.body, refused)
			}
			continue
		}
		if refused == nil || refused.Status != c.status || refused.Field != c.field {
			t.Errorf("%.80s: %v, want %d %s", c.body, refused, c.status, c.field)
		}
	}
}

func TestBatchMaximumIsExact(t *testing.T) {
	body := func(n int) []byte {
		return []byte("[" + strings.TrimSuffix(strings.Repeat(`{"id":1,"op":"remove","path":"/tags"},`, n), ",") + "]")
	}
	for most, n := range map[int]int{0: 100, 3: 3, 500: 500} {
		c := batch.Config{Fields: declared.Fields, Max: most}
		if _, refused := batch.Parse(body(n), c); refused != nil {
			t.Errorf("max %d: %d items: %v", most, n, refused)
		}
		if _, refused := batch.Parse(body(n+1), c); refused == nil || refused.Status != 413 {
			t.Errorf("max %d: %d items: %v", most, n+1, refused)
		}
	}
}

// Whatever the items are, each group's body is what they would make of an object one
// after the other, and every item is in exactly one group.
func TestGroupsMatchTheirItemsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "items")
		var texts []string
		want := make(map[string]map[string]any)
		for i := range n {
			id := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "id")
			sent := id
			if rapid.Bool().Draw(t, "quoted") {
				sent = `"` + id + `"`
			}
			field := rapid.SampledFrom([]string{"title", "tags"}).Draw(t, "field")
			if want[id] == nil {
				want[id] = make(map[string]any)
			}
			if rapid.Bool().Draw(t, "removes") {
				texts = append(texts, fmt.Sprintf(`{"id":%s,"op":"remove","path":"/%s"}`, sent, field))
				want[id][field] = nil
				continue
			}
			texts = append(texts, fmt.Sprintf(`{"id":%s,"op":"replace","path":"/%s","value":%d}`, sent, field, i))
			want[id][field] = float64(i)
		}
		items, refused := batch.Parse([]byte("["+strings.Join(texts, ",")+"]"), declared)
		if refused != nil {
			t.Fatal(refused)
		}
		seen := make(map[int]bool)
		groups := batch.Groups(items)
		if len(groups) != len(want) {
			t.Fatalf("%d groups", len(groups))
		}
		for _, g := range groups {
			var got map[string]any
			if err := json.Unmarshal(g.Body, &got); err != nil {
				t.Fatalf("%s: %v", g.Body, err)
			}
			if fmt.Sprint(got) != fmt.Sprint(want[g.ID]) {
				t.Fatalf("%s: %v, want %v", g.ID, got, want[g.ID])
			}
			if strings.Count(string(g.Body), `"title":`) > 1 || strings.Count(string(g.Body), `"tags":`) > 1 {
				t.Fatalf("%s has a member twice", g.Body)
			}
			for _, i := range g.Items {
				if seen[i] || items[i].ID != g.ID {
					t.Fatalf("item %d of %s", i, g.ID)
				}
				seen[i] = true
			}
		}
		if len(seen) != n {
			t.Fatalf("%d of %d items", len(seen), n)
		}
	})
}

func TestGroupRefusalNamesTheItemThatSetTheValue(t *testing.T) {
	items, refused := batch.Parse([]byte(`[
		{"id":1,"op":"replace","path":"/title","value":"a"},
		{"id":1,"op":"replace","path":"/tags","value":["a"]},
		{"id":1,"op":"replace","path":"/title","value":"b"},
		{"id":2,"op":"remove","path":"/title"},
		{"id":2,"op":"replace","path":"/a~1b~0c","value":{}}
	]`), declared)
	if refused != nil {
		t.Fatal(refused)
	}
	groups := batch.Groups(items)
	for _, c := range []struct {
		group       int
		field, want string
	}{
		{0, "title", "/2/value"}, {0, "tags/0", "/1/value/0"}, {0, "author", "/0"}, {0, "", "/0"},
		{1, "title", "/3/path"}, {1, "a/b~c", "/4/value"}, {1, "elsewhere", "/3"},
	} {
		if got := groups[c.group].Item(c.field); got != c.want {
			t.Errorf("%d %q: %s, want %s", c.group, c.field, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"id":1,"op":"replace","path":"/title","value":"x"}]`))
	f.Add([]byte(`[{"id":"1","op":"remove","path":"/tags"},{}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		items, refused := batch.Parse(body, declared)
		if refused != nil {
			return
		}
		for _, g := range batch.Groups(items) {
			if !json.Valid(g.Body) {
				t.Errorf("%q: %q is no JSON", body, g.Body)
			}
		}
	})
}

// A body of many small elements is refused at the first too many.
func TestItemsBeyondTheMostAreNotRead(t *testing.T) {
	body := append([]byte("[1"), bytes.Repeat([]byte(",1"), 500_000)...)
	for name, body := range map[string][]byte{"whole": append(body, ']'), "broken behind the last that is read": append(body, "}{"...)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, refused := batch.Parse(body, batch.Config{})
		runtime.ReadMemStats(&after)
		if refused == nil || refused.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %v", name, refused)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(2*len(body)) {
			t.Errorf("%s: %d bytes took %d", name, len(body), took)
		}
	}
	for _, bad := range []string{"", "[", "[1", "[1,", "[1,]", "[1]]", "[1] 2", "{}", "null", "1", "[1 2]", "[,1]"} {
		if _, refused := batch.Parse([]byte(bad), batch.Config{}); refused == nil || refused.Status != http.StatusBadRequest {
			t.Errorf("%s: %v", bad, refused)
		}
	}
}
