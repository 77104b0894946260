package translate

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// The answer to a deletion has no body by convention. One that keeps it, since it says no success, is edited.
func TestKeptAnswerToADeletionIsEdited(t *testing.T) {
	r := resource.Resource{Path: "things", Drop: []string{"pin"}}
	for _, c := range []struct {
		status int
		body   string
		want   int // 0: refused
		out    string
	}{
		{200, `{"id":1,"pin":"hidden"}`, 204, ""},
		{202, `{"id":1,"pin":"hidden"}`, 202, `{"id":1}`},
		{207, `{"id":1,"pin":"hidden"}`, 207, `{"id":1}`},
		{202, `{"data":{"pin":"hidden"}}`, 202, ""},
		{200, `{"success":false,"pin":"hidden"}`, 200, `{"success":false}`},
		{200, `{"success":false,"x":{"pin":"hidden"}}`, 0, ""},
		{200, `{"pin":"hidden","x":NaN}`, 0, ""},
		{200, `{"pin":"hidden"}{"pin":"hidden"}`, 0, ""},
	} {
		for _, chunk := range []int{0, 1} {
			g := through(Config{Answer: answerTo(t, r, "DELETE", "/things/1")}, c.status, map[string]string{"Content-Type": "application/json"}, c.body, chunk)
			g.w.Settle()
			if strings.Contains(g.Body.String(), "hidden") || (c.want == 0) != (g.failure != nil) || c.want != 0 && (g.Code != c.want || g.Body.String() != c.out) {
				t.Errorf("%d %s by %d: %v %d %s", c.status, c.body, chunk, g.failure, g.Code, g.Body)
			}
		}
	}
}

// What cannot be edited is left out, but for types that the resource passes.
func TestKeptAnswerToADeletionOfAnotherTypeIsLeftOut(t *testing.T) {
	for _, status := range []int{200, 202} {
		for _, c := range []struct {
			media, disposition, body string
			passes                   []string
			want                     string
		}{
			{"application/json", "attachment", `{"id":1,"pin":"hidden"}`, nil, `{"id":1}`},
			{"application/x-ndjson", "", `{"id":1,"pin":"hidden"}`, nil, ""},
			{"text/event-stream", "", "data: hidden\n\n", nil, ""},
			{"application/octet-stream", "", "hidden", nil, ""},
			{"application/pdf", "", "%PDF", []string{"application/pdf"}, "%PDF"},
		} {
			r := resource.Resource{Path: "things", Drop: []string{"pin"}, Pass: c.passes}
			h := map[string]string{"Content-Type": c.media}
			if c.disposition != "" {
				h["Content-Disposition"] = c.disposition
			}
			g := through(Config{Answer: answerTo(t, r, "DELETE", "/things/1")}, status, h, c.body, 0)
			g.w.Settle()
			if got := g.Body.String(); strings.Contains(got, "hidden") || g.failure != nil || got != c.want {
				t.Errorf("%d %s: %v, %d %s", status, c.media, g.failure, g.Code, got)
			}
		}
	}
}
