package restapi

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestPartialDocumentsPassUnchanged(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"header_down": ["X-Own"], `+passing)
	const (
		one   = `{"r":{"id":1}}`
		image = "\x89PNG\r\n\x1a\n"
	)
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		body   string
	}{
		{"a part", 206, http.Header{"Content-Type": {"image/png"}, "Content-Range": {"bytes 0-3/8"}}, image[:4]},
		{"what has not changed", 304, http.Header{"X-Own": {"y"}}, ""},
		{"nothing", 204, http.Header{"X-Own": {"y"}}, ""},
		{"lines of JSON", 200, http.Header{"Content-Type": {"application/x-ndjson"}}, one + "\n" + one + "\n"},
		{"a picture", 200, http.Header{"Content-Type": {"image/png"}, "Etag": {`"p"`}, "Accept-Ranges": {"bytes"}}, image},
		{"a page", 200, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, "<!DOCTYPE html><title>x</title>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u.Answer(func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range c.header {
					w.Header()[name] = values
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			p := r.do("reader", http.MethodGet, "/things/1", "")
			if p.Status != c.status || p.Body != c.body {
				t.Errorf("%d %v %q", p.Status, p.Header, p.Body)
			}
			for name := range c.header {
				if p.Header.Get(name) != c.header.Get(name) {
					t.Errorf("%s: %q", name, p.Header.Values(name))
				}
			}
		})
	}
}

// S02: PostgREST answers 206 where there is more, if the client has it count. That is no way around what is declared.
func TestPartOfAListIsAPage(t *testing.T) {
	u := newRecorded(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Range", "0-1/*")
		if r.Header.Get("Prefer") == "count=exact" {
			w.Header().Set("Content-Range", "0-1/5")
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = io.WriteString(w, `[{"id":1,"hash":"x"},{"id":2,"hash":"y"}]`)
	})
	g := harness.Prepare(t)
	g.Start(t, strings.ReplaceAll(worded("to $LEGACY\nresource articles {\n\t\t\tlist {\n\t\t\t\ttotal header Content-Range\n\t\t\t}\n\t\t\tdrop hash\n\t\t}\n"), "$LEGACY", u.Addr))
	r := &rig{g, t, make(map[string]string)}
	for prefer, total := range map[string]string{"": `"total":null,"page":1,"limit":2,"total_pages":null`, "count=exact": `"total":5,"page":1,"limit":2,"total_pages":3`} {
		p := r.do("reader", http.MethodGet, "/articles?limit=2", "", "Prefer", prefer)
		if want := `{"data":[{"id":1},{"id":2}],"pagination":{` + total + `}}`; p.Status != http.StatusOK || p.Body != want {
			t.Errorf("%q: %d %s", prefer, p.Status, p.Body)
		}
	}
}

// S02: Apache up to 2.4.62 reads Request-Range like Range. From a part of a resource nothing could be dropped.
func TestPartOfAResourceDoesNotPassWithWhatIsDropped(t *testing.T) {
	unasked := false
	u := newRecorded(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") == "" {
			r.Header.Set("Range", r.Header.Get("Request-Range"))
		}
		if unasked {
			r.Header.Set("Range", "bytes=1-")
		}
		w.Header().Set("Content-Type", "application/json")
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(`{"id":1,"hash":"hidden"}`))
	})
	g := harness.Prepare(t)
	g.Start(t, strings.ReplaceAll(worded("to $LEGACY\nresource people {\n\t\t\tdrop hash\n\t\t\tetag\n\t\t}\n"), "$LEGACY", u.Addr))
	r := &rig{g, t, make(map[string]string)}
	for _, unasked = range []bool{false, true} {
		for _, name := range []string{"Range", "Request-Range"} {
			for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
				for _, part := range []string{"bytes=1-", "bytes=1-3,5-"} {
					p := r.do("writer", method, "/people/1", `{}`, name, part, "Content-Type", "application/json")
					if strings.Contains(p.Body, "hidden") || p.Status == http.StatusPartialContent || method == http.MethodGet && (p.Status == http.StatusOK) == unasked {
						t.Errorf("%s with %s: %s: %d %s", method, name, part, p.Status, p.Body)
					}
				}
			}
		}
	}
}

// Many an upstream labels what has no body.
func TestEmptyAnswersAreNotParsedWhateverTheirType(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, listed)
	for _, status := range []int{304, 204} {
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack() // net/http leaves the label out
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = fmt.Fprintf(c, "HTTP/1.1 %d Nothing\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n", status)
		})
		if p := r.do("reader", http.MethodGet, "/things/1", ""); p.Status != status || p.Body != "" {
			t.Errorf("%d: %d %s", status, p.Status, p.Body)
		}
	}
}

// What a client says of the bytes it has, it says of translated ones, which the upstream
// has never seen.
func TestTranslatedAnswersForwardNoRangeOrETagHeaders(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, listed)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Etag", `"raw"`)
		w.Header().Set("Accept-Ranges", "bytes")
		w.Header().Set("Digest", "sha-256=x")
		w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 18:00:00 GMT")
		if q.Header.Get("Range")+q.Header.Get("If-None-Match")+q.Header.Get("If-Modified-Since")+q.Header.Get("If-Range")+q.Header.Get("Request-Range") != "" {
			t.Errorf("the upstream hears %v", q.Header)
		}
		says("application/json", `{"r":{"id":1}}`)(w, q)
	})
	p := r.do("reader", http.MethodGet, "/things/1", "", "Range", "bytes=0-3", "Request-Range", "bytes=0-3", "If-Range", `"raw"`, "If-None-Match", `"raw"`, "If-Modified-Since", "Sat, 21 Nov 2026 18:00:00 GMT")
	if h := p.Header; p.Status != 200 || !strings.HasPrefix(p.Body, `{"id":1,`) || h.Get("Etag")+h.Get("Accept-Ranges")+h.Get("Digest") != "" {
		t.Errorf("%d %v %s", p.Status, h, p.Body)
	}
}

func TestHEADMatchesGETWithoutBody(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, listed)
	for _, c := range []struct{ path, answer string }{
		{"/things/1", `{"r":{"id":1}}`}, {"/things", `{"list":[{"id":1}],"total":1}`}, {"/things", `{"list":[` + strings.Repeat(`{"id":1},`, 20000) + `{"id":2}],"total":1}`},
		{"/things/1", `{"r":NaN}`},
	} {
		u.Answer(says("application/json", c.answer))
		get, head := r.do("reader", http.MethodGet, c.path, ""), r.do("reader", http.MethodHead, c.path, "")
		if head.Body != "" || head.Status != get.Status || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("%s: %d %v, the GET has %d %v", c.path, head.Status, head.Header, get.Status, get.Header)
		}
		if l := head.Header.Get("Content-Length"); l != "" && l != get.Header.Get("Content-Length") {
			t.Errorf("%s: a length of %s, the GET has %s", c.path, l, get.Header.Get("Content-Length"))
		}
	}
}

func TestEncodedSlashStaysWithinItsSegment(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, listed)
	u.Answer(says("application/json", `{"r":{"id":"a/b"}}`))
	for _, path := range []string{"/things/a%2Fb", "/things/a%2fb"} {
		p := r.do("reader", http.MethodGet, path, "")
		hits := u.Hits()
		if p.Status != 200 || !strings.Contains(p.Body, `"href":"/things/a%2Fb"`) || len(hits) != 1 || hits[0].URL.EscapedPath() != "/things/a%2Fb" {
			t.Errorf("%s: %d %s %v", path, p.Status, p.Body, hits)
		}
	}
	wantError(t, r.do("reader", http.MethodGet, "/things/a/b", ""), 404, "not_found", "")
	if n := len(u.Hits()); n != 0 {
		t.Error("two segments were sent")
	}
}

// S02: an address without its host must not become one of another host, as where APIs redirect what ends in a slash.
func TestRedirectStaysOnTheHost(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	g.Start(t, worded("\n\tto "+u.Addr+"\n\tresource things\n\tundeclared pass\n\t"))
	r := &rig{g, t, make(map[string]string)}
	for location, want := range map[string]string{
		"http://$HOST//evil.example": "/.//evil.example", "/.//evil.example?a=b": "/.//evil.example?a=b", "http://$HOST/a//b": "/a//b", "http://$HOST/about/": "/about/",
		"https://elsewhere.example/": "https://elsewhere.example/",
	} {
		u.Answer(func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Location", strings.ReplaceAll(location, "$HOST", q.Host))
			w.WriteHeader(http.StatusMovedPermanently)
		})
		if p := r.do("reader", http.MethodGet, "/about", ""); p.Status != http.StatusMovedPermanently || p.Header.Get("Location") != want {
			t.Errorf("%s: %d %q", location, p.Status, p.Header["Location"])
		}
	}
}
