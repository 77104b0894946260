package translate

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// private is a resource without a declared list that hides members.
var private = resource.Resource{Path: "things", Drop: []string{"pin", "/meta/key"}, Rename: map[string]string{"id": "n"}, Values: map[string]map[string]string{"state": {"open": "1"}}}

const (
	theirs = `{"n":1,"pin":"hidden","state":1,"meta":{"key":"hidden"}}`
	ours   = `{"id":1,"state":"open","meta":{}}`
)

// Whatever form an answer at the collection's address has: no element of it passes with what is dropped.
func TestUndeclaredListOfAnyFormHidesWhatIsDropped(t *testing.T) {
	in := strings.NewReplacer("T", theirs, "O", ours).Replace
	page := func(total string) string {
		return in(`{"data":[O],"pagination":{"total":` + total + `,"page":1,"limit":1,"total_pages":` + total + `}}`)
	}
	for _, c := range []struct{ body, want string }{
		{`[T]`, page("null")},
		{`{"total":1,"items":[T]}`, page("1")},
		{`{"count":1,"next":null,"results":[T]}`, `{"count":1,"next":null,"results":[O]}`},
		{`{"data":[T, T],"meta":{"total":1}}`, `{"data":[O, O],"meta":{"total":1}}`},
		{`{"data":[T]}`, `{"data":[O]}`},
		{`{"things":[T]}`, `{"things":[O]}`},
		{`{"pin":"hidden","data":[T],"pagination":{"next":2}}`, `{"data":[O],"pagination":{"next":2}}`},
		{`{"pagination":{"next":2},"data":[T]}`, `{"pagination":{"next":2},"data":[O]}`},
		{`{"success":false,"total":1,"data":[T]}`, `{"success":false,"total":1,"data":[O]}`},
		{`{"items":[]}`, `{"items":[]}`},
		{`{"name":"all","kinds":[{"name":"x"}]}`, `{"name":"all","kinds":[{"name":"x"}]}`},
		{`{"rows":[T],"total":1}`, ""}, {`{"objects":[T],"total":1}`, ""}, {`{"_embedded":{"things":[T]}}`, ""}, {`{"page":{"content":[T],"total":1}}`, ""},
		{`{"1":T,"2":T}`, ""}, {`{"data":T}`, ""}, {`{"data":{"1":T},"total":1}`, ""}, {`{"data":[T],"items":[T]}`, ""}, {`{"data":[T],"included":[T]}`, ""},
		{`[[T]]`, ""}, {`[[[T]]]`, ""}, {`{"data":[[T]]}`, ""}, {`{"total":1,"items":[[T]]}`, ""}, {`{"rows":[{"n":1}]}`, ""}, {`{"rows":[{"state":1}]}`, ""},
	} {
		for _, media := range []string{"application/json", "text/html"} {
			for _, chunk := range []int{0, 1, 7} {
				g := through(Config{Answer: answerTo(t, private, "GET", "/things")}, 200, map[string]string{"Content-Type": media}, in(c.body), chunk)
				switch {
				case strings.Contains(g.Body.String(), "hidden"):
					t.Errorf("%s: %s", c.body, g.Body)
				case c.want != "" && (g.failure != nil || g.Body.String() != in(c.want)):
					t.Errorf("%s in pieces of %d: %v %s", c.body, chunk, g.failure, g.Body)
				case c.want == "" && (g.failure == nil || g.failure.Kind != Missing || g.w.Committed() || !strings.Contains(g.failure.Error(), "list { items")):
					t.Errorf("%s in pieces of %d: %v %s", c.body, chunk, g.failure, g.Body)
				}
			}
		}
	}
	for _, total := range []string{"-1", "null", `""`, "true", "[]", "{}", "1.0", "1e3", `"1,234"`, "12345678901234567890"} {
		body := in(`{"total":` + total + `,"data":[T]}`)
		if g := through(Config{Answer: answerTo(t, private, "GET", "/things")}, 200, map[string]string{"Content-Type": "application/json"}, body, 0); g.failure != nil || strings.Contains(g.Body.String(), "hidden") || !strings.Contains(g.Body.String(), ours) {
			t.Errorf("total %s: %v %s", total, g.failure, g.Body)
		}
	}
}

// What comes too late to be looked at is refused too, at the latest when it comes.
func TestLongUndeclaredListHidesWhatIsDropped(t *testing.T) {
	filler := `"x":"` + strings.Repeat("x", holdLook+sample) + `",`
	for _, body := range []string{
		`{` + filler + `"items":[` + theirs + `]}`, `{"total":1,` + filler + `"items":[` + theirs + `]}`, `{"pagination":{},` + filler + `"data":[` + theirs + `]}`,
		`{"items":[{` + filler + `"n":1},` + theirs + `],"total":1}`, `{"rows":[{` + filler + `"x":1},` + theirs + `]}`, `[{` + filler + `"n":1},[` + theirs + `]]`,
	} {
		g := through(Config{Answer: answerTo(t, private, "GET", "/things")}, 200, map[string]string{"Content-Type": "application/json"}, body, 1<<10)
		if strings.Contains(g.Body.String(), "hidden") || strings.HasPrefix(body, `{"items"`) != (g.failure == nil) {
			t.Errorf("%.40s…: %v, %d bytes", body, g.failure, g.Body.Len())
		}
	}
}

// A declared document is edited as one resource, and where no words apply to elements, nothing is refused.
func TestDocumentAtTheCollectionIsEditedAsOneResource(t *testing.T) {
	off := private
	off.Off = []string{"list"}
	links := resource.Resource{Path: "things", Links: []link.Link{{Rel: "self"}}}
	linked := `"links":[{"rel":"self","method":"GET","href":"/things"}]`
	for _, c := range []struct {
		r          resource.Resource
		body, want string
	}{
		{off, `{"n":1,"pin":2,"rows":[{"n":1}]}`, `{"id":1,"rows":[{"n":1}]}`},
		{links, `{"n":1,"meta":{"links":[]},"links":1}`, `{"n":1,"meta":{"links":[]},` + linked + `}`},
		{private, `{"n":1,"pin":2,"meta":{"key":3,"a":[{"b":1}]}}`, `{"id":1,"meta":{"a":[{"b":1}]}}`},
	} {
		g := through(Config{Answer: answerTo(t, c.r, "GET", "/things")}, 200, map[string]string{"Content-Type": "application/json"}, c.body, 0)
		if g.failure != nil || g.Body.String() != c.want {
			t.Errorf("%s: %v %s", c.body, g.failure, g.Body)
		}
	}
}

// A declared list hides it also in elements that are no objects.
func TestElementsInsideElementsHideWhatIsDropped(t *testing.T) {
	declared := private
	declared.List = &list.Config{Items: "/rows"}
	for body, ok := range map[string]bool{`{"rows":[[` + theirs + `]]}`: false, `{"rows":{"1":[` + theirs + `]}}`: false, `{"rows":[` + theirs + `,[{"a":1}]],"x":` + theirs + `}`: true} {
		g := through(Config{Answer: answerTo(t, declared, "GET", "/things")}, 200, map[string]string{"Content-Type": "application/json"}, body, 0)
		if strings.Contains(g.Body.String(), "hidden") || ok != (g.failure == nil) {
			t.Errorf("%s: %v %s", body, g.failure, g.Body)
		}
	}
}
