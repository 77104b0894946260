package restapi

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/rest/charset"
)

// encodedIn is a text in a charset.
func encodedIn(t *testing.T, name, text string) string {
	t.Helper()
	c, err := charset.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := c.Encode(text)
	if !ok {
		t.Fatalf("%q has no form in %s", text, name)
	}
	return s
}

// R03: text is decoded by its label, or by what the configuration names, or refused with the
// cause in the log. It is never taken for another charset.
func TestTextIsNeverCorrupted(t *testing.T) {
	const (
		one   = `{"r":{"id":1,"t":"%"}}`
		many  = `{"list":[{"id":1,"t":"%"}],"total":1}`
		plain = "application/json"
	)
	u := harness.NewUpstream(t)
	for _, c := range []struct {
		name, media, in, named, text string
		read                         bool
	}{
		{"Latin-1 without a label", plain, "latin1", "", "Müller", false},
		{"Latin-1 labelled UTF-8", plain + "; charset=utf-8", "latin1", "", "Müller", false},
		{"Latin-1 that is configured", plain, "latin1", "iso-8859-1", "Müller", true},
		{"Latin-1 labelled UTF-8 and configured", plain + "; charset=utf-8", "latin1", "iso-8859-1", "Müller", true},
		{"Shift_JIS that is labelled", plain + "; charset=Shift_JIS", "shift_jis", "", "日本語ソ", true},
		{"GBK without a label", plain, "gbk", "", "文章", false},
		{"GBK that is configured", plain, "gbk", "gbk", "文章", true},
		{"UTF-8 where another is configured", plain, "utf-8", "gbk", "文章", true},
		{"a kind of JSON", "application/hal+json; charset=koi8-r", "koi8-r", "", "Привет", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := harness.Prepare(t)
			r := &rig{g, t, make(map[string]string)}
			members := listed
			if c.named != "" {
				members = `"charset": "` + c.named + `", ` + listed
			}
			g.StartChanged(t, strings.Replace(site, "output discard", "output file $DIR/log.json", 1), r.with(u.Addr, members))
			for path, body := range map[string]string{"/things/1": one, "/things": many} {
				u.Answer(says(c.media, encodedIn(t, c.in, strings.Replace(body, "%", c.text, 1))))
				p := r.do("reader", http.MethodGet, path, "")
				if !c.read {
					wantError(t, p, 502, "upstream_error", "")
					continue
				}
				if p.Status != 200 || !strings.Contains(p.Body, `"t":"`+c.text+`"`) || p.Header.Get("Content-Type") != plain {
					t.Errorf("%s: %d %v %q", path, p.Status, p.Header, p.Body)
				}
			}
			log, err := os.ReadFile(filepath.Join(r.Dir, "log.json"))
			if err != nil || strings.Contains(string(log), "the text cannot be decoded") == c.read {
				t.Errorf("%v: %s", err, log)
			}
		})
	}
	t.Run("a stray byte", func(t *testing.T) {
		r := start(t, u.Addr, listed)
		u.Answer(says(plain, "{\"r\":{\"id\":1,\"t\":\"a\xffb\"}}"))
		wantError(t, r.do("reader", http.MethodGet, "/things/1", ""), 502, "upstream_error", "")
		u.Answer(says(plain, "{\"message\":\"M\xfcller\"}"))
		u.Answer(func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", plain)
			w.WriteHeader(404)
			_, _ = w.Write([]byte("{\"message\":\"M\xfcller\"}"))
		})
		if p := r.do("reader", http.MethodGet, "/things/1", ""); p.Status != 404 || strings.Contains(p.Body, "M") && strings.Contains(p.Body, "ller") {
			t.Errorf("%d %q", p.Status, p.Body)
		}
		r = start(t, u.Addr, `"errors": {"charset": "latin1"}, `+listed)
		if p := r.do("reader", http.MethodGet, "/things/1", ""); p.Status != 404 || !strings.Contains(p.Body, `"message":"Müller"`) {
			t.Errorf("%d %q", p.Status, p.Body)
		}
	})
}

const inLatin1 = `"upstream": $TO, "charset": "iso-8859-1", "resources": [{
	"path": "things", "id": "/id", "rename": {"name": "n"},
	"routes": [
		{"method": "GET", "path": "/things", "upstream": "/t"},
		{"method": "GET", "path": "/things/{id:.+}", "upstream": "/t/{id}?k={id}"},
		{"method": "POST", "path": "/things", "upstream": "/t", "as": "form"},
		{"method": "PUT", "path": "/things/{id}", "upstream": "/t/{id}", "as": "json"},
		{"method": "PATCH", "path": "/things/{id}", "upstream": "/t/{id}", "as": "multipart"}
	], "list": {"items": "", "filters": [{"name": "author", "upstream": "by"}]}, "query": [{"name": "lang"}]
}, {"path": "titles", "charset": "gbk", "routes": [{"method": "GET", "path": "/titles/{id:[^|]+}", "upstream": "/t/{id}"}]}]`

// R03: what is sent is in the API's charset too, and what that does not have is refused.
func TestRequestsAreEncodedInTheUpstreamsCharset(t *testing.T) {
	u := newRecorded(t, says("application/json", "{\"id\":\"M\xfcller\",\"n\":\"M\xfcller\"}"))
	r := start(t, u.Addr, inLatin1)
	for _, c := range []struct{ method, path, body, wantURI, wantBody string }{
		{"POST", "/things", `{"name":"Müller","ü":["ß"]}`, "/t", "n=M%FCller&%FC%5B%5D=%DF"},
		{"PUT", "/things/1", `{"name":"Müller"}`, "/t/1", `{"n":"M\u00fcller"}`},
		{"PATCH", "/things/1", `{"name":"Müller"}`, "/t/1", "\r\n\r\nM\xfcller\r\n"},
		{"GET", "/things/M%C3%BCller", "", "/t/M%FCller?k=M%FCller", ""},
		{"GET", "/things/1?lang=f%C3%BCr", "", "/t/1?k=1&lang=f%FCr", ""},
		{"GET", "/titles/%E6%96%87", "", "/t/%CE%C4", ""},
	} {
		if p := r.do("writer", c.method, c.path, c.body); p.Status > 299 || c.path[:7] == "/things" && !strings.Contains(p.Body, `"name":"Müller"`) {
			t.Errorf("%s %s: %d %q", c.method, c.path, p.Status, p.Body)
		}
		if got, body := u.last(t); got.URL.RequestURI() != c.wantURI || !strings.Contains(body, c.wantBody) {
			t.Errorf("%s %s: %s %q", c.method, c.path, got.URL.RequestURI(), body)
		}
	}
	if p := r.do("writer", "POST", "/things", `{"name":"Müller"}`); p.Header.Get("Location") != "/things/M%C3%BCller" {
		t.Errorf("%v", p.Header)
	}
	u.last(t)
	u.Answer(says("application/json", "[]"))
	u.bodies = nil
	r.do("reader", "GET", "/things?author=M%C3%BCller", "")
	if hits := u.Hits(); len(hits) != 1 || !strings.Contains(hits[0].URL.RawQuery, "by=M%FCller") {
		t.Errorf("%v", hits)
	}
	for _, c := range []struct{ method, path, body, field string }{
		{"POST", "/things", `{"name":"文"}`, "name"}, {"POST", "/things", `{"a":{"b":["文"]}}`, "a"}, {"POST", "/things", `{"a":{"文":1}}`, "a"},
		{"PUT", "/things/1", `{"name":"文"}`, "name"}, {"PATCH", "/things/1", `{"x":"文"}`, "x"},
		{"GET", "/things/1?lang=%E6%96%87", "", "lang"}, {"GET", "/things?author=%E6%96%87", "", "author"},
	} {
		wantError(t, r.do("writer", c.method, c.path, c.body), 422, "validation_failed", c.field)
	}
	wantError(t, r.do("reader", "GET", "/things/%E6%96%87", ""), 404, "not_found", "")
	// 亅 ends with the byte of a bar in GBK, and 嘰 with that of a backslash.
	for _, path := range []string{"/titles/1%E4%BA%85" + "2", "/titles/%E5%98%B0.."} {
		wantError(t, r.do("reader", "GET", path, ""), 404, "not_found", "")
	}
	if n := len(u.Hits()); n != 0 {
		t.Errorf("%d requests reached the upstream", n)
	}
}

// R03: a resource and an api_errors have a charset of their own in a Caddyfile.
func TestCharsetDirectiveOfResourceAndAPIErrors(t *testing.T) {
	u := harness.NewUpstream(t)
	g := harness.Prepare(t)
	rest := "api_rest {\n\t\tto " + u.Addr + " charset latin1\n\t\tresource plain\n\t\tresource old {\n\t\t\tcharset gbk\n\t\t}\n\t}"
	g.Start(t, strings.Replace(site, "respond API_REST", rest, 1))
	r := &rig{g, t, make(map[string]string)}
	for path, body := range map[string]string{"/plain/1": "{\"t\":\"M\xfcller\"}", "/old/1": encodedIn(t, "gbk", `{"t":"文章"}`)} {
		u.Answer(says("application/json", body))
		if p := r.do("reader", "GET", path, ""); p.Status != 200 || !strings.Contains(p.Body, "Müller") && !strings.Contains(p.Body, "文章") {
			t.Errorf("%s: %d %q", path, p.Status, p.Body)
		}
	}
}
