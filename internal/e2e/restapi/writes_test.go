package restapi

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// wiki answers reads and writes in different places, as MediaWiki does.
const wiki = `"upstream": $TO, "resources": [{
	"path": "pages", "id": "/pageid", "rename": {"id": "pageid"}, "idempotency": true,
	"item_of": {"read": "/query/pages/0", "create": "/edit", "update": "/edit"},
	"created": {"status": 201, "id": "/edit/pageid"}
}, {"path": "notes", "item": "/note", "rename": {"text": "t"}, "idempotency": true}, {"path": "words", "item": "/word", "off": ["created"]}]`

// R01: a write that succeeded is never a 502, wherever its answer has the resource.
func TestSuccessfulWriteIsNeverA502(t *testing.T) {
	u := newRecorded(t, nil)
	r := start(t, u.Addr, wiki)
	for _, c := range []struct {
		name, method, path, answer string
		status                     int
		location, body             string
	}{
		{"R01 an item for each operation: read", "GET", "/pages/12", `{"query":{"pages":[{"pageid":12}]}}`, 200, "", `{"id":12}`},
		{"R01 create", "POST", "/pages", `{"edit":{"result":"Success","pageid":12}}`, 201, "/pages/12", `{"result":"Success","id":12}`},
		{"R01 update", "PATCH", "/pages/12", `{"edit":{"pageid":12}}`, 200, "", `{"id":12}`},
		{"R01 a creation that has no item", "POST", "/notes", `{"ok":true}`, 201, "", ""},
		{"R01 a creation whose item is no object", "POST", "/notes", `{"note":[5],"id":5}`, 201, "", ""},
		{"R01 a creation with the id and no item", "POST", "/pages", `{"edit":[{"pageid":13}],"x":1}`, 201, "", ""},
		{"R01 a change", "PUT", "/notes/5", `{"ok":true}`, 204, "", ""},
		{"R01 a part of one", "PATCH", "/notes/5", `{"note":null}`, 204, "", ""},
		{"R01 a creation where 201 is turned off", "POST", "/words", `{"ok":true}`, 204, "", ""},
		{"S02 a creation that says that it failed", "POST", "/notes", `{"success":false}`, 502, "", ""},
		{"S02 a change that does", "PATCH", "/notes/5", `{"error":"no such note"}`, 502, "", ""},
		{"S02 a declared status does not hide it", "POST", "/pages", `{"errno":5,"edit":null}`, 502, "", ""},
		{"R01 a read is a failure", "GET", "/notes/5", `{"ok":true}`, 502, "", ""},
		{"R01 what breaks off is a failure", "POST", "/notes", `{"note":{"id":5`, 502, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			u.Answer(says("application/json", c.answer))
			header := []string{}
			if c.method == "POST" && c.status == 201 {
				header = append(header, "Idempotency-Key", strings.ReplaceAll(c.name, " ", "-"))
			}
			before := r.Metric(t, `caddy_gatehouse_rest_translation_failures_total{reason="missing"}`)
			body := map[string]string{"GET": ""}[c.method]
			if c.method != "GET" {
				body = `{"a":1}`
			}
			p := r.do("writer", c.method, c.path, body, header...)
			if p.Status != c.status || p.Header.Get("Location") != c.location || c.status < 300 && p.Body != c.body {
				t.Errorf("%d %v %s", p.Status, p.Header, p.Body)
			}
			if c.status < 300 && c.body == "" && r.Metric(t, `caddy_gatehouse_rest_translation_failures_total{reason="missing"}`) != before+1 {
				t.Error("it is not counted")
			}
			if len(header) > 0 {
				again := r.do("writer", c.method, c.path, body, header...)
				if again.Status != c.status || again.Header.Get("Idempotency-Replayed") != "true" || again.Body != p.Body {
					t.Errorf("again: %d %v %s", again.Status, again.Header, again.Body)
				}
			}
		})
	}
	// A rule that calls it a failure decides.
	r = start(t, u.Addr, `"errors": {"fail_when": [{"pointer": "/error", "op": "exists", "status": 422}]}, `+wiki)
	u.Answer(says("application/json", `{"error":{"code":"badtoken"}}`))
	wantError(t, r.do("writer", http.MethodPost, "/pages", `{"a":1}`), 422, "validation_failed", "")
}

// R01: a write answered with nothing or a word has succeeded, whatever the label. GNU Mailman's 201 is empty and says application/json.
func TestWriteAnsweredWithNothingOrAWordSucceeds(t *testing.T) {
	u := newRecorded(t, nil)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "lists", "rename": {"title": "subject"}, "idempotency": true},
		{"path": "users", "links": [{"rel": "self"}], "off": ["deleted"]}, {"path": "notes", "item": "/note"},
		{"path": "words", "rename": {"title": "subject"}, "fail_when": [{"op": "empty", "status": 409}, {"op": "==", "values": ["Fails."], "status": 422}]}]`)
	for _, media := range []string{"application/json", "application/problem+json", "application/json; charset=iso-8859-1", "text/plain", "text/html", ""} {
		for _, body := range []string{"", " \n", "\xef\xbb\xbf", "Ok.", "chunked"} {
			u.Answer(func(w http.ResponseWriter, q *http.Request) {
				w.Header().Set("Content-Type", media)
				if q.Method == http.MethodPost {
					w.Header().Set("Location", "http://"+q.Host+q.URL.Path+"/7")
					w.WriteHeader(http.StatusCreated)
				}
				if body == "chunked" {
					_ = http.NewResponseController(w).Flush()
					return
				}
				_, _ = w.Write([]byte(body))
			})
			for _, path := range []string{"/lists", "/users", "/notes"} {
				if p := r.do("writer", http.MethodPost, path, `{"title":"x"}`); p.Status != 201 || p.Header.Get("Location") != path+"/7" || p.Body != "" {
					t.Errorf("POST %s, %q %q: %d %v %s", path, media, body, p.Status, p.Header, p.Body)
				}
				for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
					sent := `{"title":"x"}`
					if method == http.MethodDelete {
						sent = ""
					}
					p := r.do("writer", method, path+"/7", sent)
					page := method == http.MethodDelete && p.Status == 200 && !strings.HasSuffix(media, "json") // it may be one, and keeps its status
					if !page && (p.Status != 204 || p.Body != "") {
						t.Errorf("%s %s, %q %q: %d %s", method, path, media, body, p.Status, p.Body)
					}
				}
				if p := r.do("reader", http.MethodGet, path+"/7", ""); p.Status != 502 {
					t.Errorf("GET %s, %q %q: %d %s", path, media, body, p.Status, p.Body)
				}
			}
			key := []string{"Idempotency-Key", "k-" + strings.NewReplacer("/", "-", ";", "-", " ", "-", "=", "-").Replace(media) + strconv.Itoa(len(body))}
			for range 2 {
				if p := r.do("writer", http.MethodPost, "/lists", `{"title":"x"}`, key...); p.Status != 201 || p.Header.Get("Location") != "/lists/7" {
					t.Errorf("%q %q with a key: %d %v %s", media, body, p.Status, p.Header, p.Body)
				}
			}
		}
		// What the configuration says about nothing and about words holds for every label.
		u.Answer(says(media, ""))
		wantError(t, r.do("writer", http.MethodPut, "/words/7", `{"title":"x"}`), 409, "conflict", "")
		u.Answer(says(media, "Fails."))
		wantError(t, r.do("writer", http.MethodPut, "/words/7", `{"title":"x"}`), 422, "validation_failed", "")
	}
	for _, c := range []struct{ media, body string }{
		{"application/json", `{"subject":"x`}, {"application/json", "["}, {"application/json", "Internal Server Error"}, {"application/json", "<html>"}, {"text/html", "<html>"}, {"text/plain", `{"subject":`},
	} {
		u.Answer(says(c.media, c.body))
		wantError(t, r.do("writer", http.MethodPut, "/lists/7", `{"title":"x"}`), 502, "upstream_error", "")
	}
	// So has one that says it is compressed, or a document of XML, and is nothing.
	for name, value := range map[string]string{"Content-Encoding": "gzip", "Content-Type": "application/xml"} {
		for _, chunked := range []bool{false, true} {
			u.Answer(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set(name, value)
				if chunked {
					_ = http.NewResponseController(w).Flush()
				}
			})
			if p := r.do("writer", http.MethodPut, "/lists/7", `{"title":"x"}`); p.Status != 204 {
				t.Errorf("%s %s, chunked %v: %d %s", name, value, chunked, p.Status, p.Body)
			}
		}
	}
}
