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
		{"an object that breaks off", `{"id":5,`, Incomplete}, {"an array that breaks off", "[", Incomplete}, {"an object that is none", `{"id":}`, Syntax}, {"something behind it", `{"id":5} done`, Syntax},
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
