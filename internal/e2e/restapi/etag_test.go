package restapi

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// page is one document that changes, behind an upstream that does or does not know tags.
type document struct {
	mu      sync.Mutex
	version int
	tags    bool // it gives ETags and honours conditions
	weak    bool
	demands bool // it answers 428 to a change without If-Match
	size    int
	heard   []string
	body    string // of the last change
}

func (d *document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	line := r.Method
	for _, name := range []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range"} {
		if v := r.Header.Get(name); v != "" {
			line += " " + name + ": " + v
		}
	}
	d.heard = append(d.heard, line)
	tag := fmt.Sprintf(`"v%d"`, d.version)
	if d.weak {
		tag = "W/" + tag
	}
	if d.tags {
		w.Header().Set("ETag", tag)
		if m := r.Header.Get("If-Match"); m != "" && m != "*" && m != tag {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if d.demands && r.Method != http.MethodGet && r.Header.Get("If-Match") == "" {
		w.WriteHeader(http.StatusPreconditionRequired)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/404") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Last-Modified", "Sat, 01 Nov 2025 10:00:00 GMT")
	if r.Method != http.MethodGet {
		body, _ := io.ReadAll(r.Body)
		d.body = string(body)
		d.version++
		_, _ = io.WriteString(w, `{"result":{"id":7}}`)
		return
	}
	_, _ = fmt.Fprintf(w, `{"result":{"id":7,"version":%d,"pad":"%s"},"items":[{"id":7,"version":%d}]}`, d.version, strings.Repeat("x", d.size), d.version)
}

func (d *document) lines() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	heard := d.heard
	d.heard = nil
	return heard
}

const documents = `"upstream": $TO, "resources": [
	{"path": "documents", "etag": true, "item": "/result", "list": {"items": "/items"}, "links": [{"rel": "self"}, {"rel": "delete"}]},
	{"path": "plain", "etag": true},
	{"path": "untagged", "item": "/result"}
]`

func site2(t *testing.T, d *document) *rig {
	t.Helper()
	u := harness.NewUpstream(t)
	u.Answer(d.ServeHTTP)
	return start(t, u.Addr, documents)
}

func TestAnswersHaveETagsAndSupportNotModified(t *testing.T) {
	for name, d := range map[string]*document{"a tag from the body": {}, "a tag from the upstream's": {tags: true}, "a weak one": {tags: true, weak: true}} {
		r := site2(t, d)
		for _, path := range []string{"/documents/7", "/documents", "/plain/7"} {
			first := r.do("reader", "GET", path, "")
			tag := first.Header.Get("Etag")
			if first.Status != 200 || tag == "" || strings.HasPrefix(tag, "W/") || strings.Contains(tag, "v0") {
				t.Fatalf("%s %s: %d %q %s", name, path, first.Status, tag, first.Body)
			}
			if head := r.do("reader", "HEAD", path, ""); head.Header.Get("Etag") != tag || head.Status != 200 || head.Body != "" {
				t.Errorf("%s %s: HEAD %d %v", name, path, head.Status, head.Header)
			}
			d.lines()
			for _, method := range []string{"GET", "HEAD"} {
				for _, sent := range []string{tag, `"other", ` + tag, "*", "W/" + tag, strings.TrimSuffix(tag, `"`) + `-gzip"`} {
					p := r.do("reader", method, path, "", "If-None-Match", sent, "If-Modified-Since", "Sat, 01 Nov 2025 10:00:00 GMT")
					if p.Status != 304 || p.Body != "" || p.Header.Get("Etag") != tag || p.Header.Get("Content-Type") != "" {
						t.Errorf("%s %s %s If-None-Match %s: %d %v", name, method, path, sent, p.Status, p.Header)
					}
				}
			}
			for _, line := range d.lines() {
				if strings.Contains(line, "b.") || strings.Contains(line, "u.") || strings.Contains(line, "s.") || strings.Contains(line, "Since") {
					t.Errorf("%s: the upstream was asked %s", name, line)
				}
			}
			if p := r.do("reader", "GET", path, "", "If-None-Match", `"other"`); p.Status != 200 || p.Body != first.Body {
				t.Errorf("%s %s: another tag: %d", name, path, p.Status)
			}
			if p := r.do("reader", "GET", path, "", "If-None-Match", `other`); p.Status != 400 || !strings.Contains(p.Body, `"field":"If-None-Match"`) {
				t.Errorf("%s %s: no tag: %d %s", name, path, p.Status, p.Body)
			}
			if p := r.do("reader", "GET", path, "", "Range", "bytes=0-3", "If-Range", tag); p.Status != 200 || p.Body != first.Body {
				t.Errorf("%s %s: a part: %d", name, path, p.Status)
			}
		}
		// Who may not delete sees other links, and so has another tag.
		if a, b := r.do("reader", "GET", "/documents/7", "").Header.Get("Etag"), r.do("writer", "GET", "/documents/7", "").Header.Get("Etag"); a == b {
			t.Errorf("%s: two answers have one tag", name)
		}
	}
}

// The upstream is told in its own words, and sends nothing.
func TestUpstreamIsAskedWithItsOwnETag(t *testing.T) {
	d := &document{tags: true}
	r := site2(t, d)
	tag := r.do("reader", "GET", "/documents/7", "").Header.Get("Etag")
	d.lines()
	if p := r.do("reader", "GET", "/documents/7", "", "If-None-Match", tag); p.Status != 304 {
		t.Fatal(p.Status)
	}
	if got := d.lines(); len(got) != 1 || got[0] != `GET If-None-Match: "v0"` {
		t.Errorf("%q", got)
	}
	// A tag of another's plan says nothing of this one.
	other := r.do("writer", "GET", "/documents/7", "").Header.Get("Etag")
	d.lines()
	if p := r.do("reader", "GET", "/documents/7", "", "If-None-Match", other); p.Status != 200 {
		t.Errorf("%d for another's tag", p.Status)
	}
	if got := d.lines(); len(got) != 1 || got[0] != "GET" {
		t.Errorf("%q", got)
	}
}

func TestChangeNeedsTheTagOfTheCurrentState(t *testing.T) {
	for name, d := range map[string]*document{"a tag from the body": {}, "a tag from the upstream's": {tags: true}, "beside a weak one": {tags: true, weak: true}} {
		r := site2(t, d)
		for _, method := range []string{"PUT", "PATCH", "DELETE"} {
			body := `{"a":1}`
			if method == "DELETE" {
				body = ""
			}
			tag := r.do("writer", "GET", "/documents/7", "").Header.Get("Etag")
			for _, c := range []struct {
				field, value string
				path         string
				status       int
			}{
				{"If-Match", `"other"`, "/documents/7", 412},
				{"If-Match", `W/"other"`, "/documents/7", 412},
				{"If-Match", tag, "/documents/404", 412},
				{"If-Match", "*", "/documents/404", 412},
				{"If-Match", "nothing", "/documents/7", 400},
				{"If-None-Match", "*", "/documents/7", 412},
				{"If-None-Match", "W/" + tag, "/documents/7", 412},
				{"If-None-Match", strings.TrimSuffix(tag, `"`) + `-gzip"`, "/documents/7", 412},
				{"If-Unmodified-Since", "Sat, 01 Nov 2025 09:59:59 GMT", "/documents/7", 412},
				{"If-Unmodified-Since", "Sat, 01 Nov 2025 10:00:00 GMT", "/documents/7", 200},
				{"If-Match", "*", "/documents/7", 200},
				{"If-None-Match", `"other"`, "/documents/7", 200},
				{"If-Match", "TAG", "/documents/7", 200},
				{"If-Match", "W/TAG", "/documents/7", 200}, // as nginx spells it when it compresses the response
				{"If-Match", tag, "/documents/7", 412},     // it was changed meanwhile
				{"If-Match", "W/" + tag, "/documents/7", 412},
			} {
				if before, current := strings.CutSuffix(c.value, "TAG"); current {
					c.value = before + r.do("writer", "GET", "/documents/7", "").Header.Get("Etag")
				}
				if method == "DELETE" && c.status == 200 {
					c.status = 204
				}
				d.lines()
				p := r.do("writer", method, c.path, body, c.field, c.value)
				if p.Status != c.status || p.Header.Get("Etag") != "" {
					t.Errorf("%s: %s %s with %s %s: %d %s", name, method, c.path, c.field, c.value, p.Status, p.Body)
				}
				changes := 0
				for _, line := range d.lines() {
					if !strings.HasPrefix(line, "GET") {
						changes++
					}
					if strings.Contains(line, tag) || strings.Contains(line, "09:59:59") || strings.Contains(line, "other") {
						t.Errorf("%s: the upstream heard %s", name, line)
					}
				}
				if changes != map[bool]int{true: 1}[c.status < 300] {
					t.Errorf("%s: %s with %s %s: %d changes", name, method, c.field, c.value, changes)
				}
			}
		}
	}
}

// Who may write but not read must not find out whether a guess of the content is right.
func TestChangeWithATagNeedsTheScopeOfTheRead(t *testing.T) {
	for name, d := range map[string]*document{"a tag from the body": {}, "a tag from the upstream's": {tags: true}} {
		r := site2(t, d)
		for _, path := range []string{"/documents/7", "/plain/7"} {
			tag := r.do("reader", "GET", path, "").Header.Get("Etag")
			for _, field := range []string{"If-Match", "If-None-Match"} {
				for _, value := range []string{tag, `"x"`, `"x", ` + tag} {
					d.lines()
					p := r.do("blind", "PATCH", path, `{}`, field, value)
					if heard := d.lines(); len(heard) != 0 || !strings.Contains(p.Body, "needs the scope read") {
						t.Errorf("%s: %s: %s %s: %s, the API heard %q", name, path, field, value, p.Body, heard)
					}
					wantError(t, p, 403, "insufficient_scope", "")
				}
			}
			if p := r.do("blind", "PATCH", path, `{}`, "If-Match", "*"); p.Status != 200 || p.Header.Get("Etag") != "" {
				t.Errorf("%s: %s: any tag: %d %v", name, path, p.Status, p.Header)
			}
		}
	}
}

// The guard judges the read at the path that it saw, and at the path of the version that Accept names.
func TestChangeWithATagNeedsTheScopeAtTheClientsPath(t *testing.T) {
	d := new(document)
	u := harness.NewUpstream(t)
	u.Answer(d.ServeHTTP)
	r := &rig{harness.Prepare(t), t, make(map[string]string)}
	r.StartChanged(t, strings.NewReplacer("GUARD_FRONT", `oauth_guard {
			scope write GET /shop/v2/things/*
			scope read GET /stock/items/*
			scope write PATCH /stock/items/*
			scope read GET,PATCH /shop/*
		}
		uri path_regexp ^/stock/items /shop/things`, "GUARD_BEHIND", "").Replace(below),
		r.with(u.Addr, `"vendor": "acme", "upstream": $TO, "versions": [{"name": "v2"}], "resources": [{"path": "things", "etag": true}]`))
	const v2 = "application/vnd.acme.v2+json"
	for _, c := range []struct {
		client, path, accept string
		want                 int
	}{
		{"writer", "/stock/items/7", "", 412},
		{"blind", "/stock/items/7", "", 403},
		{"reader", "/shop/things/7", "", 412},
		{"reader", "/shop/things/7", v2, 403},
		{"reader", "/shop/v2/things/7", "", 403},
		{"writer", "/shop/things/7", v2, 412},
	} {
		if p := r.do(c.client, "PATCH", c.path, `{}`, "If-Match", `"x"`, "Accept", c.accept); p.Status != c.want {
			t.Errorf("%s %s %s: %d %s, want %d", c.client, c.path, c.accept, p.Status, p.Body, c.want)
		}
	}
}

// Between the look and the change somebody may change it: an upstream that can is told.
func TestUpstreamWithConditionsDecidesItself(t *testing.T) {
	d := &document{tags: true}
	r := site2(t, d)
	tag := r.do("writer", "GET", "/documents/7", "").Header.Get("Etag")
	d.lines()
	if p := r.do("writer", "PUT", "/documents/7", `{}`, "If-Match", tag); p.Status != 200 {
		t.Fatal(p.Status, p.Body)
	}
	if got := d.lines(); len(got) != 2 || got[1] != `PUT If-Match: "v0"` {
		t.Errorf("%q", got)
	}
}

// So does one that demands a condition, as OData services do, and then takes its weak tags.
func TestUpstreamThatDemandsAConditionGetsItsWeakTag(t *testing.T) {
	d := &document{tags: true, weak: true, demands: true}
	r := site2(t, d)
	for i, path := range []string{"/documents/7", "/plain/7"} {
		tag := r.do("writer", "GET", path, "").Header.Get("Etag")
		d.lines()
		p := r.do("writer", "PATCH", path, `{"a":1}`, "If-Match", tag)
		if got, want := d.lines(), fmt.Sprintf(`[GET PATCH PATCH If-Match: W/"v%d"]`, 2*i); p.Status != 200 || fmt.Sprint(got) != want || d.body != `{"a":1}` {
			t.Errorf("%s: %d %s, %q, want %s; sent %s", path, p.Status, p.Body, got, want, d.body)
		}
		tag = r.do("writer", "GET", path, "").Header.Get("Etag")
		d.lines()
		p = r.do("writer", "PATCH", path, `{"a":2}`, "If-Match", tag)
		if got, want := d.lines(), fmt.Sprintf(`[GET PATCH If-Match: W/"v%d"]`, 2*i+1); p.Status != 200 || fmt.Sprint(got) != want || d.body != `{"a":2}` {
			t.Errorf("%s: %d %s, %q, want %s as it has demanded it; sent %s", path, p.Status, p.Body, got, want, d.body)
		}
		if p := r.do("writer", "PATCH", path, `{"a":1}`, "If-Match", tag); p.Status != 412 || len(d.lines()) != 1 {
			t.Errorf("%s: %d for an old tag", path, p.Status)
		}
		if p := r.do("writer", "PATCH", path, `{"a":1}`); p.Status != 428 {
			t.Errorf("%s: %d without a condition", path, p.Status)
		}
	}
}

// .NET, for example, sends JSON without Content-Length. Slow clients must not keep others from changing anything.
func TestDemandedConditionIsMetForAnyBody(t *testing.T) {
	d := &document{tags: true, weak: true, demands: true}
	r := site2(t, d)
	for range 70 { // each announces as much as is kept of one body
		c, err := net.Dial("tcp", strings.TrimPrefix(r.API, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		_, err = fmt.Fprintf(c, "PUT /plain/7 HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nIf-None-Match: \"x\"\r\nContent-Type: application/json\r\nContent-Length: 1048576\r\n\r\n{",
			strings.TrimPrefix(r.API, "http://"), r.token("writer"))
		if err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(20 * time.Second)
	for reads := 0; reads < 70; reads += len(d.lines()) { // the gateway has seen all of them
		if time.Sleep(time.Millisecond); time.Now().After(deadline) {
			t.Fatalf("the API was asked %d times", reads)
		}
	}
	for i, path := range []string{"/documents/7", "/plain/7"} {
		for _, method := range []string{"PUT", "PATCH"} {
			tag := r.do("writer", "GET", path, "").Header.Get("Etag")
			req, err := http.NewRequest(method, r.API+path, io.MultiReader(strings.NewReader(`{"a":`), strings.NewReader(`1}`))) // of unknown length
			if err != nil {
				t.Fatal(err)
			}
			req.Header = http.Header{"Content-Type": {"application/json"}, "If-Match": {tag}, "Authorization": {"Bearer " + r.token("writer")}}
			answer, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != 200 || d.body != `{"a":1}` {
				t.Errorf("%d: %s %s: %d, sent %s", i, method, path, answer.StatusCode, d.body)
			}
		}
	}
}

// Another writer comes between every read and the change behind it.
func TestUpstreamNoticesAnotherWriterUnderAnyCondition(t *testing.T) {
	u := harness.NewUpstream(t)
	var version atomic.Int32 // 0: there is no document
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		now := version.Load()
		tag := fmt.Sprintf(`"v%d"`, now)
		match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
		switch {
		case r.Method == http.MethodGet && now == 0:
			version.Add(1)
			w.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodGet:
			version.Add(1)
			w.Header().Set("ETag", tag)
			w.Header().Set("Last-Modified", "Sat, 01 Nov 2025 10:00:00 GMT")
			_, _ = io.WriteString(w, `{}`)
		case match != "" && (now == 0 || match != "*" && match != tag), none == "*" && now > 0:
			w.WriteHeader(http.StatusPreconditionFailed)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	r := start(t, u.Addr, documents)
	for _, c := range []struct {
		before      int32
		field, text string
		want        int
	}{
		{0, "If-None-Match", "*", 412},
		{1, "If-Unmodified-Since", "Sat, 01 Nov 2025 10:00:00 GMT", 412},
		{1, "If-None-Match", `"other"`, 412},
		{1, "If-Match", "*", 204}, // it exists all the time
	} {
		version.Store(c.before)
		if p := r.do("writer", "PUT", "/plain/7", `{}`, c.field, c.text); p.Status != c.want {
			t.Errorf("%s: %s: %d %s, want %d", c.field, c.text, p.Status, p.Body, c.want)
		}
	}
}

// So does an API that knows dates only, as Django's last_modified does, if each change has a second of its own.
func TestUpstreamWithDatesNoticesAnotherWriter(t *testing.T) {
	u := harness.NewUpstream(t)
	var version atomic.Int32
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		date := fmt.Sprintf("Sat, 01 Nov 2025 10:00:%02d GMT", version.Load())
		since := r.Header.Get("If-Unmodified-Since")
		switch {
		case r.Method == http.MethodGet:
			version.Add(1) // somebody changes it after every read
			w.Header().Set("Last-Modified", date)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{}`)
		case r.Header.Get("If-Match") != "", since != "" && since != date:
			w.WriteHeader(http.StatusPreconditionFailed)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	r := start(t, u.Addr, documents)
	read := r.do("writer", "GET", "/plain/7", "")
	for _, c := range []struct {
		field, text string
		want        int
	}{
		{"If-Unmodified-Since", "Sat, 01 Nov 2025 10:00:00 GMT", 412},
		{"If-Unmodified-Since", "Sat, 01 Nov 2025 11:00:00 GMT", 412},
		{"If-Match", read.Header.Get("Etag"), 204}, // of dates within a second, APIs have different opinions
		{"If-Match", "*", 204},                     // it exists all the time, but matches nothing where there are no tags
		{"", "", 204},
	} {
		version.Store(0)
		var header []string
		if c.field != "" {
			header = []string{c.field, c.text}
		}
		if p := r.do("writer", "PUT", "/plain/7", `{}`, header...); p.Status != c.want {
			t.Errorf("%s: %s: %d %s, want %d", c.field, c.text, p.Status, p.Body, c.want)
		}
	}
}

func TestUndeclaredETagsNeverMatch(t *testing.T) {
	d := &document{tags: true}
	r := site2(t, d)
	if p := r.do("writer", "GET", "/untagged/7", ""); p.Header.Get("Etag") != "" {
		t.Errorf("a tag %s", p.Header.Get("Etag"))
	}
	d.lines()
	if p := r.do("writer", "PUT", "/untagged/7", `{}`, "If-Match", `"v0"`); p.Status != 412 || len(d.lines()) != 0 {
		t.Errorf("%d", p.Status)
	}
	if p := r.do("writer", "PUT", "/untagged/7", `{}`, "If-None-Match", `"v0"`); p.Status != 200 {
		t.Errorf("%d", p.Status)
	}
	if got := d.lines(); len(got) != 1 || got[0] != "PUT" {
		t.Errorf("%q", got)
	}
}

func TestLongAnswerHasOnlyTheUpstreamsETag(t *testing.T) {
	for _, c := range []struct {
		tags, weak bool
		size       int
		want       string // how the tag begins
	}{
		{false, false, 200 << 10, `"b.`}, {false, false, 300 << 10, ""}, {true, false, 300 << 10, `"s.`},
		{true, true, 200 << 10, `"b.`}, {true, true, 300 << 10, `W/"ws.`},
	} {
		d := &document{tags: c.tags, weak: c.weak, size: c.size}
		r := site2(t, d)
		p := r.do("reader", "GET", "/documents/7", "")
		tag := p.Header.Get("Etag")
		if p.Status != 200 || !strings.HasPrefix(tag, c.want) || (tag == "") != (c.want == "") || len(p.Body) < c.size {
			t.Errorf("%+v: %d %q, %d bytes", c, p.Status, tag, len(p.Body))
		}
		if head := r.do("reader", "HEAD", "/documents/7", ""); head.Status != 200 || head.Header.Get("Etag") != tag {
			t.Errorf("%+v: HEAD %d %v", c, head.Status, head.Header)
		}
		if tag != "" {
			if p := r.do("reader", "GET", "/documents/7", "", "If-None-Match", tag); p.Status != 304 || p.Header.Get("Etag") != tag || p.Body != "" {
				t.Errorf("%+v: not modified: %d %v", c, p.Status, p.Header)
			}
		}
		p = r.do("writer", "PATCH", "/documents/7", `{}`, "If-Match", `"b.x"`)
		if never := strings.Contains(p.Body, "If-Match cannot hold here"); p.Status != 412 || never != !strings.HasPrefix(c.want, `"`) {
			t.Errorf("%+v: %d %s", c, p.Status, p.Body)
		}
	}
}

// An API's weak tag says nothing of the bytes, so that a strong one cannot lean on it: whoever has the tag
// of other bytes must get these.
func TestSameWeakETagDoesNotHideOtherBytes(t *testing.T) {
	u := harness.NewUpstream(t)
	var read atomic.Int32
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `W/"same"`)
		if r.Header.Get("If-None-Match") == `W/"same"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("%s asked for %q", r.Method, r.Header.Get("Accept-Encoding"))
		}
		_, _ = fmt.Fprintf(w, `{"result":{"read":%d}}`, read.Load()/2)
		if r.Method == http.MethodGet {
			read.Add(1)
		}
	})
	r := start(t, u.Addr, documents)
	first := r.do("writer", "GET", "/documents/7", "").Header.Get("Etag")
	if p := r.do("writer", "GET", "/documents/7", "", "If-None-Match", first); p.Status != 304 {
		t.Errorf("the same bytes: %d", p.Status)
	}
	p := r.do("writer", "GET", "/documents/7", "", "If-None-Match", first)
	if tag := p.Header.Get("Etag"); p.Status != 200 || tag == first {
		t.Errorf("other bytes: %d %s", p.Status, tag)
	}
	if p := r.do("writer", "PUT", "/documents/7", `{}`, "If-Match", p.Header.Get("Etag")); p.Status != 200 {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if p := r.do("writer", "GET", "/plain/7", "", "Accept-Encoding", "gzip"); p.Status != 200 {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}

func TestUncheckableConditionMakesNoChange(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	r := start(t, u.Addr, documents)
	p := r.do("writer", "PUT", "/documents/7", `{}`, "If-Match", `"x"`)
	if hits := u.Hits(); p.Status != 503 || len(hits) != 1 || hits[0].Method != "GET" {
		t.Errorf("%d after %d requests", p.Status, len(hits))
	}
	// A redirect or a 304 to nobody's condition is no answer to a change.
	for _, status := range []int{301, 302, 304, 307} {
		u.Answer(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "https://sso.example/")
			w.WriteHeader(status)
		})
		p := r.do("writer", "DELETE", "/documents/7", "", "If-Match", `"x"`)
		if hits := u.Hits(); len(hits) != 1 || hits[0].Method != "GET" || p.Header.Get("Location") != "" {
			t.Errorf("%d: %d requests, %v", status, len(hits), p.Header)
		}
		wantError(t, p, 502, "upstream_error", "")
	}
}

// S05: a conditional change reads the resource first, so it must not be a cheap way to have the API read.
func TestConditionalChangeCostsNoLessThanItsRead(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	r := startIn(t, "\trespond API_REST", "\tapi_limit {\n\t\tclient 10 1h\n\t\tcost 6 GET /things/*\n\t}\n\trespond API_REST", u.Addr, `"upstream": $TO, "resources": [{"path": "things", "etag": true}]`)
	for i, want := range []struct{ status, sent int }{
		{http.StatusPreconditionFailed, 1}, // 6 of 10 units
		{http.StatusTooManyRequests, 0},    // 1
	} {
		p := r.do("writer", http.MethodPatch, "/things/7", `{"a":1}`, "Content-Type", "application/json", "If-Match", `"x"`)
		if sent := len(u.Hits()); p.Status != want.status || sent != want.sent {
			t.Errorf("%d: %d %s, %d sent", i, p.Status, p.Body, sent)
		}
	}
	if p := r.do("writer", http.MethodPatch, "/things/7", `{"a":1}`, "Content-Type", "application/json"); p.Status >= 300 {
		t.Errorf("without a condition: %d %s", p.Status, p.Body)
	}
}
