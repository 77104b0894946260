package translate

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

var plainThings = resource.Resource{Path: "things"}

// An answer of which nothing is declared is kept up to a bound while it is found out what
// it is, and streams beyond.
func TestUndeclaredAnswerBufferIsLimited(t *testing.T) {
	const piece = 1 << 10
	filler := `"` + strings.Repeat("x", piece-3) + `",`
	for _, c := range []struct {
		name, method, target, media, begin string
		most                               int
	}{
		{"an array", "GET", "/things", "application/json", `[`, hold},
		{"an object that tells its total first", "GET", "/things", "application/json", `{"total":9,"items":[`, hold},
		{"an object that is a page already", "GET", "/things", "application/json", `{"pagination":{},"data":[`, hold},
		{"an object without a total so far", "GET", "/things", "application/json", `{"items":[`, holdLook},
		{"an object that is no list", "GET", "/things", "application/json", `{"other":[`, holdLook},
		{"a creation", "POST", "/things", "application/json", `{"other":[`, holdCreated},
		{"a deletion", "DELETE", "/things/1", "application/json", `{"other":[`, hold},
		{"a deletion labelled HTML", "DELETE", "/things/1", "text/html", `{"other":[`, hold},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := New(httptest.NewRecorder(), Config{Answer: answerTo(t, plainThings, c.method, c.target)})
			defer w.Release()
			w.Header().Set("Content-Type", c.media)
			w.WriteHeader(200)
			written := 0
			for text := c.begin; !w.Committed(); text = filler {
				n, err := w.Write([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				if written += n; written > c.most+2*outOfStep {
					t.Fatalf("%d bytes are kept, at most %d", written, c.most)
				}
			}
			if written < c.most/2 {
				t.Errorf("decided after %d bytes", written)
			}
			kept := 0
			if w.body != nil {
				kept = len(w.body.held)
				if w.body.look != nil {
					kept += len(w.body.look.kept)
				}
			}
			if w.peek != nil {
				kept += len(w.peek.kept)
			}
			if kept > 0 {
				t.Errorf("%d bytes are still kept", kept)
			}
		})
	}
}

// outOfStep is what may be read before it is looked at.
const outOfStep = sample

func TestUndeclaredAnswerIsTheSameInAnyChunks(t *testing.T) {
	list := `{"data":[{"id":1},{"id":2}],"pagination":{"total":7,"page":2,"limit":2,"total_pages":4}}`
	for _, c := range []struct{ name, method, media, coding, body, want, location string }{
		{"an array behind a byte order mark", "GET", "application/json", "", "\xef\xbb\xbf[{\"id\":1},{\"id\":2}]", strings.NewReplacer("7", "null", "4", "null").Replace(list), ""},
		{"a compressed object", "GET", "application/json", "gzip", `{"results":[{"id":1},{"id":2}],"totalElements":7}`, list, ""},
		{"an object with a name of the collection", "GET", "text/html", "", `{"things":[{"id":1},{"id":2}],"total":"7"}`, list, ""},
		{"null", "GET", "application/json", "", `null`, `null`, ""},
		{"no JSON at all", "GET", "application/json", "", `oops`, `oops`, ""},
		{"an object that breaks off", "GET", "application/json", "", `{"total":7,"items":[{"id":1}`, `{"total":7,"items":[{"id":1}`, ""},
		{"a creation", "POST", "application/json", "", `{"a":{"id":1},"id":"x-y"}`, `{"a":{"id":1},"id":"x-y"}`, "/things/x-y"},
		{"a creation whose id has no address", "POST", "application/json", "", `{"id":"x y"}`, `{"id":"x y"}`, ""},
		{"a creation with two ids", "POST", "application/json", "", `{"id":1,"id":2}`, `{"id":1,"id":2}`, "/things/2"},
	} {
		for _, chunk := range []int{0, 1, 7} {
			body := c.body
			header := map[string]string{"Content-Type": c.media}
			if c.coding != "" {
				body, header["Content-Encoding"] = pack(t, c.coding, body), c.coding
			}
			target := "/things?page=2&limit=2"
			if c.method == "POST" {
				target = "/things"
			}
			g := through(Config{Answer: answerTo(t, plainThings, c.method, target)}, 200, header, body, chunk)
			if g.failure != nil || g.Body.String() != c.want || g.Header().Get("Location") != c.location {
				t.Errorf("%s in pieces of %d: %v %q %s", c.name, chunk, g.failure, g.Header(), g.Body)
			}
		}
	}
	packed := pack(t, "gzip", `{"id":5}`)
	g := through(Config{Answer: answerTo(t, plainThings, "POST", "/things")}, 200, map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}, packed, 3)
	if g.Code != 201 || g.Header().Get("Location") != "/things/5" || g.Body.String() != packed || g.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("a compressed creation: %d %v", g.Code, g.Header())
	}
}

// The links of an item in a list are the item's, also if the answer alone tells that it is a list.
func TestLinksInAnUndeclaredListAreTheItems(t *testing.T) {
	r := resource.Resource{Path: "things", Links: []link.Link{{Rel: "self"}, {Rel: "delete"}}, Nested: []resource.Resource{{Path: "parts", Links: []link.Link{{Rel: "self"}}}}}
	links := func(href string) string {
		return `"links":[{"rel":"self","method":"GET","href":"` + href + `"},{"rel":"delete","method":"DELETE","href":"` + href + `"}]`
	}
	page := func(links, total, pages string) string {
		return `{"data":[{"id":2,` + links + `}],"pagination":{"total":` + total + `,"page":1,"limit":1,"total_pages":` + pages + `}}`
	}
	part := `"links":[{"rel":"self","method":"GET","href":"/things/7/parts/2"}]`
	for _, c := range []struct{ target, body, want string }{
		{"/things", `[{"id":2}]`, page(links("/things/2"), "null", "null")},
		{"/things?limit=1", `{"items":[{"id":2}],"total":1}`, page(links("/things/2"), "1", "1")},
		{"/things", `{"data":[{"id":2}],"meta":{},"total":1}`, page(links("/things/2"), "1", "1")},
		{"/things", `{"id":2,"total":1}`, `{"id":2,"total":1,` + links("/things") + `}`},
		{"/things", `{"items":[{"id":2}]}`, `{"items":[{"id":2,` + links("/things/2") + `}]}`},
		{"/things", `{"rows":[{"id":2}]}`, `{"rows":[{"id":2}],` + links("/things") + `}`},
		{"/things/2", `{"id":2}`, `{"id":2,` + links("/things/2") + `}`},
		{"/things/7/parts", `[{"id":2}]`, page(part, "null", "null")},
		{"/things/7/parts", `{"parts":[{"id":2}],"total":1}`, page(part, "1", "1")},
	} {
		for _, chunk := range []int{0, 1} {
			a, asked := answerTo(t, r, "GET", c.target), map[string]bool{}
			a.Allowed = func(_, path string) bool { asked[path] = true; return true }
			g := through(Config{Answer: a}, 200, map[string]string{"Content-Type": "application/json"}, c.body, chunk)
			if g.failure != nil || g.Body.String() != c.want || len(asked) != 1 {
				t.Errorf("%s %s by %d: %v %s, the guard was asked about %v", c.target, c.body, chunk, g.failure, g.Body, asked)
			}
		}
	}
}
