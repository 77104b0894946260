package restapi

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// R02: a page with status 200, to sign in or of an error, is no answer where JSON is declared.
func TestHTMLPageIsNoAnswerWhereJSONIsDeclared(t *testing.T) {
	const fatal = "<br />\n<b>Fatal error</b>:  Uncaught mysqli_sql_exception: Access denied for user 'shop'@'10.0.0.7' in /srv/shop/db.php:12"
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, passing)
	for _, body := range []string{fatal, "<html><form action=/login.php><input name=password></form></html>", `{"r":{"id":1}}<!-- 12 ms -->`} {
		u.Answer(says("application/xhtml+xml", body))
		for _, path := range []string{"/things/1", "/things"} {
			p := r.do("reader", http.MethodGet, path, "")
			wantError(t, p, 502, "upstream_error", "")
			if strings.Contains(p.Body, "10.0.0.7") || strings.Contains(p.Body, "<") {
				t.Errorf("%s", p.Body)
			}
		}
		wantError(t, r.do("writer", http.MethodPatch, "/things/1", `{"a":1}`), 502, "upstream_error", "")
	}
	// The same as an ordinary page, where the resource does not pass that type.
	r = start(t, u.Addr, listed)
	for _, media := range []string{"text/html; charset=utf-8", "text/plain", "", "application/json"} {
		u.Answer(says(media, fatal))
		wantError(t, r.do("reader", http.MethodGet, "/things/1", ""), 502, "upstream_error", "")
	}
	u.Answer(says("text/csv", "1,2"))
	wantError(t, r.do("reader", http.MethodGet, "/things", ""), 502, "upstream_error", "")
	// A write that was answered by a word has succeeded.
	u.Answer(says("text/html", "OK"))
	if p := r.do("writer", http.MethodPatch, "/things/1", `{"a":1}`); p.Status != 204 || p.Body != "" {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if n := r.Metric(t, `caddy_gatehouse_rest_translation_failures_total{reason="syntax"}`); n < 5 {
		t.Errorf("%v are counted", n)
	}
}

// R02: JSON has other names too, and what has one is translated. aria2 says application/json-rpc.
func TestJSONMediaTypeVariantsAreTranslated(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "things", "item": "/result", "rename": {"id": "gid"}, "pass": ["text/csv"]}]`)
	for _, media := range []string{"application/json-rpc", "application/jsonrequest", "application/x-json; charset=utf-8", "text/x-json"} {
		u.Answer(says(media, `{"jsonrpc":"2.0","id":"1","result":{"gid":"7"}}`))
		if p := r.do("reader", http.MethodGet, "/things/7", ""); p.Status != 200 || p.Body != `{"id":"7"}` || p.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s %s", media, p.Status, p.Header.Get("Content-Type"), p.Body)
		}
	}
}

// R02: the log does not speak of a declared item where none is.
func TestWordInAnswerToAWriteIsLogged(t *testing.T) {
	for _, c := range []struct {
		declared, want string
		there          bool
	}{
		{"", "was taken for a success by its status", true},
		{`"item": "/result", `, "has no resource where one is declared", true},
		{`"fail_when": [{"op": "!=", "values": ["Ok."], "status": 422}], `, "was taken for a success by its status", false}, // the rule has judged it
		{`"item": "/result", "fail_when": [{"op": "!=", "values": ["Ok."], "status": 422}], `, "has no resource where one is declared", true},
	} {
		u := harness.NewUpstream(t)
		u.Answer(says("text/plain", "Ok."))
		g := harness.Prepare(t)
		r := &rig{g, t, make(map[string]string)}
		g.StartChanged(t, strings.NewReplacer("output discard", "output file $DIR/log.json").Replace(site), r.with(u.Addr, `"upstream": $TO, "resources": [{"path": "things", `+c.declared+`"rename": {"name": "n"}}]`))
		if p := r.do("writer", http.MethodPost, "/things", `{"name":"x"}`); p.Status != 201 || p.Body != "" {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		log, err := os.ReadFile(filepath.Join(r.Dir, "log.json"))
		if err != nil || strings.Contains(string(log), c.want) != c.there {
			t.Errorf("%s: %v: %s should be there: %v\n%s", c.declared, err, c.want, c.there, log)
		}
	}
}

// R02: an API that answers writes with a word reports failures with a word too.
func TestFailWhenMatchesAWord(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "things", "rename": {"name": "n"}, "fail_when": [
		{"op": "==", "values": ["Fails.", "No.", "Fehlgeschlagen für"], "status": 422},
		{"on": "update", "op": "!=", "values": ["Ok."], "status": 409},
		{"on": "delete", "op": "empty", "status": 410}]}]`)
	const page = "<!doctype html><title>Sign in</title>"
	for _, c := range []struct {
		method, media, body string
		want                int
	}{
		{"POST", "text/plain", "Ok.", 201},
		{"POST", "text/plain; charset=utf-8", "Fails.", 422},
		{"POST", "text/plain; charset=iso-8859-1", "Fehlgeschlagen f\xfcr", 422},
		{"POST", "text/plain", " No.\r\n", 422},
		{"POST", "text/html; charset=UTF-8", "Fails.", 422}, // the label of PHP
		{"POST", "text/plain", "Fails. Or not", 201},
		{"POST", "text/plain", "", 201},
		{"POST", "application/json", `"Fails."`, 422},
		{"POST", "application/json", `{"n":"Fails."}`, 201},
		{"PATCH", "text/plain", "Ok.\n", 204},
		{"PATCH", "text/plain", "Ok.\n" + strings.Repeat(" ", 60<<10), 204},
		{"PATCH", "text/plain", "Ok.\n" + strings.Repeat("x", 200<<10), 409},
		{"PATCH", "text/plain", "Ok.\n" + strings.Repeat("x", 2<<10), 409},
		{"PATCH", "text/plain", "", 409},
		{"PATCH", "text/html", page, 409},
		{"DELETE", "text/plain", " ", 410},
		{"DELETE", "text/plain", "Ok.", 204},
	} {
		u.Answer(says(c.media, c.body))
		path, body := "/things", `{"name":"x"}`
		if c.method != http.MethodPost {
			path = "/things/1"
		}
		if c.method == http.MethodDelete {
			body = ""
		}
		if p := r.do("writer", c.method, path, body); p.Status != c.want {
			t.Errorf("%s %s %.20q: %d %.200s, want %d", c.method, c.media, c.body, p.Status, p.Body, c.want)
		}
	}
}

// S02: what is labelled JSON and is none does not become a 201 or 204, also where nothing is declared.
func TestPageLabelledJSONIsNoSuccessOfAWrite(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, oneLine)
	for _, body := range []string{"<br />\n<b>Fatal error</b>: Uncaught mysqli_sql_exception in /srv/shop/db.php:12", "Access denied for user shop", "删除失败", `{"id":5,`} {
		u.Answer(says("application/json", body))
		for _, p := range []harness.Page{r.do("writer", http.MethodDelete, "/articles/7", ""), r.do("writer", http.MethodPost, "/articles", "{}")} {
			wantError(t, p, 502, "upstream_error", "")
			if strings.Contains(p.Body, "srv") || p.Header.Get("Location") != "" {
				t.Errorf("%v %s", p.Header, p.Body)
			}
		}
	}
	for body, status := range map[string][2]int{"": {204, 201}, "Deleted": {204, 201}, `{"id":5}`: {204, 201}, `"all done"`: {204, 201}} {
		u.Answer(says("application/json", body))
		if p := r.do("writer", http.MethodDelete, "/articles/7", ""); p.Status != status[0] {
			t.Errorf("%s: %d %s", body, p.Status, p.Body)
		}
		if p := r.do("writer", http.MethodPost, "/articles", "{}"); p.Status != status[1] || p.Body != body {
			t.Errorf("%s: %d %s", body, p.Status, p.Body)
		}
	}
}

// R08: where nothing is declared, what is nearly JSON passes with its status, and the write is not taken for a failure.
func TestNearlyJSONPassesAfterAWrite(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "notes"}]`)
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for _, body := range []string{`{"id":5,"x":` + deep + `}`, `{"id":5,"x":NaN}`, "{\"status\":\"Pulling\"}\r\n{\"status\":\"Done\"}\r\n"} {
		u.Answer(says("application/json", body))
		for _, operation := range []string{"POST /notes", "DELETE /notes/1"} {
			method, path, _ := strings.Cut(operation, " ")
			if p := r.do("writer", method, path, ""); p.Status != http.StatusOK || p.Body != body {
				t.Errorf("%s: %d %.100s", operation, p.Status, p.Body)
			}
		}
	}
	for _, body := range []string{"<html><p>", `{"id":5,"x":NaN`, `{"id":`} {
		u.Answer(says("application/json", body))
		wantError(t, r.do("writer", "POST", "/notes", ""), 502, "upstream_error", "")
	}
}
