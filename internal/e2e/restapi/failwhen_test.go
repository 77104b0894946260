package restapi

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// R02: conditions on whether an answer is JSON and on header fields, of APIs of which neither
// item nor list is declared.
func TestFailWhenMatchesNonJSONAndHeaders(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, worded(`
	to `+u.Addr+`
	resource things
	resource files {
		pass text/csv text/html
	}
	undeclared pass
	errors {
		fail_when /code == 9 status 410 was_here
		fail_when header X-Status == error failed status 409 refused
		fail_when header X-Remaining < 0 status 429
		fail_when not_json status 502
	}
	`))
	r := &rig{g, t, make(map[string]string)}
	answer := func(body string, header ...string) {
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			_, _ = io.WriteString(w, body)
		})
	}
	const page = "<html><title>Sign in</title> mysql://10.0.0.7</html>"
	big := strings.Repeat(" ", 70<<10)
	for _, c := range []struct {
		name, method, path, media, body string
		status                          int
		code                            string
	}{
		{"R02 a page", "GET", "/things/1", "text/html", page, 502, "upstream_error"},
		{"R02 a page labelled JSON", "GET", "/things/1", "application/json", page, 502, "upstream_error"},
		{"R02 another type", "GET", "/things/1", "image/png", "\x89PNG", 502, "upstream_error"},
		{"R02 the answer to a write", "POST", "/things", "text/plain", "Could not connect", 502, "upstream_error"},
		{"R02 what is not declared", "GET", "/about", "text/html", page, 502, "upstream_error"},
		{"R02 a comment behind it", "GET", "/things/1", "application/json", `{"id":1}<!-- 3 ms -->`, 502, "upstream_error"},
		{"R02 half of it", "GET", "/things/1", "application/json", `{"id":1,"a":[`, 502, "upstream_error"},
		{"R02 nothing", "GET", "/things/1", "application/json", ``, 502, "upstream_error"},
		{"R02 nothing, of a write", "PUT", "/things/1", "application/json", ``, 200, ""},
		{"R02 JSON labelled HTML", "GET", "/things/1", "text/html", `{"id":1}`, 200, ""},
		{"R02 JSON behind a notice", "GET", "/things/1", "text/html", `<b>Notice</b> {"id":1}`, 200, ""},
		{"R02 a number", "GET", "/things/1", "application/json", ` 5`, 200, ""},
		{"R02 JSON that is long", "GET", "/things/1", "application/json", `{"a":"` + big + `"}`, 200, ""},
		{"R02 a type that passes", "GET", "/files/1", "text/csv", "1,2", 200, ""},
		{"R02 a page that passes", "GET", "/files/1", "text/html", page, 200, ""},
		{"R02 lines", "GET", "/things/1", "application/x-ndjson", "{}\n{}", 200, ""},
		{"R02 the first condition decides", "GET", "/things/1", "application/json", `{"code":9}`, 410, "was_here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer(c.body, "Content-Type", c.media)
			body := ""
			if c.method != "GET" {
				body = "{}"
			}
			p := r.do("writer", c.method, c.path, body)
			if c.status != 200 {
				wantError(t, p, c.status, c.code, "")
			} else if p.Status != 200 || p.Body != c.body {
				t.Errorf("%d %s", p.Status, p.Body)
			}
			if c.status == 502 && strings.Contains(p.Body, "10.0.0.7") {
				t.Errorf("%s", p.Body)
			}
		})
	}
	for _, c := range []struct {
		name, field, value, media, body string
		status                          int
		code                            string
	}{
		{"R02 a header", "X-Status", "failed", "application/json", `{"id":1,"message":"No room"}`, 409, "refused"},
		{"R02 a header of nothing", "X-Status", "error", "", ``, 409, "refused"},
		{"R02 a header of what is not JSON", "X-Status", "error", "image/png", "\x89PNG", 409, "refused"},
		{"R02 a condition in front of the header's", "X-Status", "error", "application/json", `{"code":9}`, 410, "was_here"},
		{"R02 a header in front of what is not JSON", "X-Status", "error", "text/html", page, 409, "refused"},
		{"R02 a number", "X-Remaining", "-1", "application/json", `{}`, 429, "rate_limited"},
		{"R02 another value", "X-Status", "fine", "application/json", `{}`, 200, ""},
		{"R02 another number", "X-Remaining", "0", "application/json", `{}`, 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer(c.body, "Content-Type", c.media, c.field, c.value)
			p := r.do("reader", http.MethodGet, "/things/1", "")
			if c.status != 200 {
				wantError(t, p, c.status, c.code, "")
			} else if p.Status != 200 {
				t.Errorf("%d %s", p.Status, p.Body)
			}
			if head := r.do("reader", http.MethodHead, "/things/1", ""); c.field == "X-Status" && c.value == "failed" && head.Status != 409 {
				t.Errorf("HEAD: %d", head.Status)
			}
		})
	}
	answer(`{"a":"`+big+`"`, "Content-Type", "application/json")
	req, _ := http.NewRequest(http.MethodGet, r.API+"/things/1", http.NoBody)
	req.Header.Set("Authorization", "Bearer "+r.token("reader"))
	res, err := http.DefaultClient.Do(req)
	if err == nil {
		defer res.Body.Close()
		_, err = io.Copy(io.Discard, res.Body)
	}
	if err == nil {
		t.Error("R02 what turns out to be cut off behind 64 KiB is given as whole")
	}
}

// R02: where JSON is declared, a redirect to another host is no answer.
func TestCrossHostRedirectIsNoAnswerWhereJSONIsDeclared(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, "https://login.example/?back=10.0.0.7", http.StatusFound)
	})
	r := start(t, u.Addr, passing)
	for _, path := range []string{"/things", "/things/1"} {
		p := r.do("reader", http.MethodGet, path, "")
		wantError(t, p, 502, "upstream_error", "")
		if p.Header.Get("Location") != "" {
			t.Errorf("%v", p.Header)
		}
	}
}

// R13: conditions of a resource and of one kind of operation come before those of all.
func TestFailWhenOfResourceAndOperationTakesPrecedence(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, worded(`
	to `+u.Addr+`
	resource things {
		fail_when update /error exists status 409 taken
		fail_when /state == gone status 410
		fail_when read header X-Locked == 1 status 423 locked
		fail_when delete not_json
	}
	resource others
	errors {
		fail_when /error exists status 422
	}
	`))
	r := &rig{g, t, make(map[string]string)}
	for _, c := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"PATCH", "/things/1", `{"error":"x"}`, 409, "taken"},
		{"PUT", "/things/1", `{"error":"x"}`, 422, "validation_failed"},
		{"GET", "/things/1", `{"error":"x"}`, 423, "locked"},
		{"PUT", "/things/1", `{"state":"gone","error":"x"}`, 410, "gone"},
		{"PUT", "/things/1", `{"state":"here"}`, 200, ""},
		{"DELETE", "/things/1", `gone`, 502, "upstream_error"},
		{"PUT", "/things/1", `gone`, 200, ""},
		{"PATCH", "/others/1", `{"error":"x","state":"gone"}`, 422, "validation_failed"},
		{"GET", "/others/1", `{"state":"gone"}`, 200, ""},
	} {
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Locked", "1")
			says("text/plain", c.body)(w, nil)
		})
		body := ""
		if c.method != "GET" && c.method != "DELETE" {
			body = "{}"
		}
		p := r.do("writer", c.method, c.path, body)
		if c.status != 200 {
			wantError(t, p, c.status, c.code, "")
		} else if p.Status != 200 {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, p.Status, p.Body)
		}
	}
	// A batch is many updates.
	u.Answer(says("application/json", `{"error":"x"}`))
	if p := r.do("writer", "PATCH", "/things", `[{"id":"1","op":"replace","path":"/a","value":1}]`); p.Status != 207 || !strings.Contains(p.Body, `"status":409`) {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}
