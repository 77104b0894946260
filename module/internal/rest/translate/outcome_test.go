package translate

import (
	"strings"
	"testing"
)

// A write whose answer is labelled JSON and is a page or an error in words is no success, whether or not something is declared of it.
func TestUntranslatedWriteIsJudgedLikeATranslatedOne(t *testing.T) {
	for _, c := range []struct {
		name, body string
		kind       Kind // "": the write has succeeded
	}{
		{"nothing", "", ""}, {"blanks", " \r\n", ""}, {"a word", "Ok.", ""}, {"a word in another charset", "Gel\xf6scht", ""}, {"a word in UTF-8", "Gelöscht", ""},
		{"a scalar", `"all done"`, ""}, {"null", "null", ""}, {"JSON", `{"id":5}`, ""}, {"JSON behind a notice", "Notice: x\n{\"id\":5}", ""},
		{"a page", "<!doctype html><script>x = {a: 1}</script>", Syntax}, {"a page of one word", "<html>", Syntax}, {"a page behind blanks", "\r\n<br />\n<b>Fatal error</b>: no database", Syntax},
		{"an error in words", "Internal Server Error", Syntax}, {"an error in words in another charset", "nicht gel\xf6scht", Charset},
		{"a page in another charset", "<html>\xf6", Syntax}, {"an error in Chinese", "删除失败", Syntax}, {"an error in Japanese", "エラーです", Syntax}, {"an error in GBK", "\xc9\xbe\xb3\xfd\xca\xa7\xb0\xdc", Charset},
		{"words with an ideographic space", "Fehler\u3000schwer", Syntax}, {"a text that breaks off", `"all do`, Incomplete},
		{"an object that breaks off", `{"id":5,`, Incomplete}, {"an array that breaks off", "[", Incomplete}, {"an object that is none", `{"id":}`, Syntax},
		{"a long page", "<html>" + strings.Repeat("x ", holdCreated), Syntax},
	} {
		for _, target := range []string{"DELETE /things/1", "POST /things"} {
			method, path, _ := strings.Cut(target, " ")
			for _, chunk := range []int{0, 3} {
				if len(c.body) > hold {
					chunk = hold
				}
				g := through(Config{Answer: answerTo(t, plainThings, method, path)}, 200, map[string]string{"Content-Type": "application/json"}, c.body, chunk)
				status := map[string]int{"DELETE": 204, "POST": 201}[method]
				switch {
				case c.kind == "" && (g.failure != nil || g.Code != status):
					t.Errorf("%s of %s: %v %d", c.name, target, g.failure, g.Code)
				case c.kind != "" && (g.failure == nil || g.failure.Kind != c.kind || g.w.Committed()):
					t.Errorf("%s of %s in pieces of %d: %v %d", c.name, target, chunk, g.failure, g.Code)
				}
			}
		}
		if c.kind == "" {
			continue
		}
		if g := through(Config{Answer: answerTo(t, things, "PUT", "/things/1")}, 200, map[string]string{"Content-Type": "application/json"}, c.body, 0); g.failure == nil || g.failure.Kind != c.kind {
			t.Errorf("%s, translated: %v", c.name, g.failure)
		}
	}
	// A page that is labelled as one passes with its status.
	if g := through(Config{Answer: answerTo(t, plainThings, "DELETE", "/things/1")}, 200, map[string]string{"Content-Type": "text/html"}, "<html>", 0); g.failure != nil || g.Code != 200 || g.Body.String() != "<html>" {
		t.Errorf("%v %d %s", g.failure, g.Code, g.Body)
	}
}

// Some clients read more than JSON. Where nothing is edited, what is nearly JSON passes with its status.
func TestNearlyJSONPassesWithItsStatus(t *testing.T) {
	deep := strings.Repeat(`{"x":[`, 100) + strings.Repeat("]}", 100)
	long := strings.Repeat(" ", holdCreated-10)
	for _, body := range []string{
		`{"id":5,"x":NaN}`, `{"id":5,"x":[Infinity,-Infinity,1]}`, `{"id":5,"t":"\\\"NaN","x":NaN}`, "{\"id\":5}\r\n{\"status\":\"Pulling\"}\r\n", `[1][2]`,
		deep, `{"id":5,"x":` + deep + `}`, `{"x":NaN,"y":` + deep + `}`, `{"x":NaN}` + deep, `{"x":[` + long + `NaN,NaN,NaN,NaN]}`,
	} {
		for _, target := range []string{"DELETE /things/1", "POST /things"} {
			method, path, _ := strings.Cut(target, " ")
			if method == "DELETE" && len(body) > hold {
				continue // more than is looked at
			}
			for _, chunk := range []int{0, 7} {
				g := through(Config{Answer: answerTo(t, plainThings, method, path)}, 200, map[string]string{"Content-Type": "application/json"}, body, max(chunk, len(body)/1000))
				if g.failure != nil || g.Code != 200 || g.Body.String() != body {
					t.Errorf("%s of %.100q: %v %d %.100q", target, body, g.failure, g.Code, g.Body)
				}
			}
		}
		if g := through(Config{Answer: answerTo(t, things, "PUT", "/things/1")}, 200, map[string]string{"Content-Type": "application/json"}, body, 0); g.failure == nil || g.w.Committed() {
			t.Errorf("%.100q, edited: %v %d", body, g.failure, g.Code)
		}
	}
	for _, body := range []string{`{"id":5,"x":NaN`, `{"id":5,"x":Nan}`, `{"id":5,"x":NaN,}`, `{"id":5,"x":<html>}`, "[NaN,<br>", `{"id":5,"x":"NaN`} {
		g := through(Config{Answer: answerTo(t, plainThings, "POST", "/things")}, 200, map[string]string{"Content-Type": "application/json"}, body, 0)
		if g.failure == nil || g.w.Committed() {
			t.Errorf("%s: %v %d", body, g.failure, g.Code)
		}
	}
}
