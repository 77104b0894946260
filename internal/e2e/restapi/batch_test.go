package restapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// with adds members to the declared articles.
func with(members string) string {
	return `"upstream": $TO, ` + strings.Replace(declared, `"item": "/result", "id": "/aid",`, `"item": "/result", "id": "/aid", `+members+`,`, 1)
}

const batchThings = `"upstream": $TO, "max_body": 200000, "resources": [{
	"path": "things", "batch": ["title", "size"], "batch_max": 300, "item": "/result", "rename": {"title": "subject"}, "links": [{"rel": "self"}],
	"validate": [{"field": "title", "length": [5, 100]}]
}, {"path": "plain", "batch": ["a"]}]`

// startIn is start with a change of the site.
func startIn(t *testing.T, old, now, upstream, members string) *rig {
	t.Helper()
	if !strings.Contains(site, old) {
		t.Fatalf("the site has no %s", old)
	}
	g := harness.Prepare(t)
	r := &rig{g, t, make(map[string]string)}
	one := r.with(upstream, members)
	g.StartChanged(t, strings.Replace(site, old, now, 1), func(config []byte) []byte {
		for strings.Contains(string(config), `"API_REST"`) {
			config = one(config)
		}
		return config
	})
	return r
}

func items(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"id":%d,"op":"replace","path":"/title","value":"title %d"}`, i+1, i))
	}
	return "[" + strings.Join(all, ",") + "]"
}

type told struct {
	Data []struct {
		ID     any
		Status int
		Data   map[string]any
		Error  *struct{ Code, Message string }
	}
}

func tell(t *testing.T, p harness.Page) (all told) {
	t.Helper()
	if err := json.Unmarshal([]byte(p.Body), &all); err != nil {
		t.Fatalf("%d %s: %v", p.Status, p.Body, err)
	}
	return all
}

func TestBatchReportsEachItem(t *testing.T) {
	r := start(t, legacy(t), `"errors": {"fail_when": [{"pointer": "/success", "op": "==", "values": ["false"], "status": 422}]}, `+with(`"batch": ["title", "tags"]`))
	p := r.do("writer", "PATCH", "/articles", `[
		{"id": 1001, "op": "replace", "path": "/title", "value": "A title of a batch"},
		{"id": "1002", "op": "replace", "path": "/title", "value": "Another title"},
		{"id": "1001", "op": "replace", "path": "/tags", "value": "a,b"},
		{"id": 1003, "op": "remove", "path": "/tags"}
	]`)
	all := tell(t, p)
	if p.Status != 200 || len(all.Data) != 4 || all.Data[0].Data["title"] != "A title of a batch" || all.Data[2].Data["tags"] != "a,b" || all.Data[3].Data["tags"] != "" {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if got := r.do("writer", "GET", "/articles/1001", ""); !strings.Contains(got.Body, `"title":"A title of a batch"`) || !strings.Contains(got.Body, `"tags":"a,b"`) {
		t.Error(got.Body)
	}
	p = r.do("writer", "PATCH", "/articles", `[{"id":999999,"op":"replace","path":"/title","value":"Nobody's title"},{"id":1004,"op":"replace","path":"/title","value":"Somebody's"}]`)
	all = tell(t, p)
	if p.Status != 207 || all.Data[0].Error == nil || all.Data[0].Data != nil || all.Data[1].Status != 200 || all.Data[1].Error != nil {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}

func TestInvalidItemStopsTheBatchBeforeSending(t *testing.T) {
	u := harness.NewUpstream(t)
	r := startIn(t, "scope read GET", "scope profile PATCH /things/13\n\t\tscope read GET", u.Addr, batchThings)
	const good = `{"id":1,"op":"replace","path":"/title","value":"a title"}`
	for _, c := range []struct {
		body, media string
		status      int
		field       string
	}{
		{`[` + good + `,` + good + `,` + good + `,{"id":2,"op":"test","path":"/title","value":1}]`, "application/json", 400, `"/3/op"`},
		{`[` + good + `,{"id":2,"op":"replace","path":"/title","value":"abc"}]`, "application/json", 400, `"/1/value"`},
		{`[` + good + `,{"id":2,"op":"replace","path":"/subject","value":"abcde"}]`, "application/json", 400, `"/1/path"`},
		{`[` + good + `,{"id":"..","op":"replace","path":"/title","value":"abcde"}]`, "application/json", 400, `"/1/id"`},
		{`[` + good + `,{"id":"a\u0000b","op":"replace","path":"/title","value":"abcde"}]`, "application/json", 400, `"/1/id"`},
		{`[` + good + `,{"id":13,"op":"replace","path":"/title","value":"abcde"}]`, "application/json", 403, `"/1/id"`},
		{`[` + good + `]`, "application/json-patch+json", 415, `null`},
		{`[` + good + `]`, "application/x-www-form-urlencoded", 415, `null`},
		{`[` + good + `]`, "application/json; charset=gbk", 415, `null`},
		{items(301), "application/json", 413, `null`},
		{`[` + strings.Repeat(" ", 200001) + good + `]`, "application/json", 413, `null`},
	} {
		p := r.do("writer", "PATCH", "/things", c.body, "Content-Type", c.media)
		if p.Status != c.status || !strings.Contains(p.Body, `"field":`+c.field) {
			t.Errorf("%.120s as %s: %d %s", c.body, c.media, p.Status, p.Body)
		}
		if c.status == 415 && p.Header.Get("Accept-Patch") != "application/json" {
			t.Errorf("415 with %v", p.Header)
		}
	}
	for _, name := range []string{"If-Match", "If-None-Match", "If-Unmodified-Since"} {
		if p := r.do("writer", "PATCH", "/things", items(1), name, "*"); p.Status != 400 || !strings.Contains(p.Body, `"field":"`+name+`"`) {
			t.Errorf("%s: %d %s", name, p.Status, p.Body)
		}
	}
	if p := r.do("writer", "PATCH", "/things?x=1", items(1)); p.Status != 400 || !strings.Contains(p.Body, `"field":"x"`) {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	if p := r.do("reader", "PATCH", "/things", items(1)); p.Status != 403 {
		t.Errorf("without the scope: %d", p.Status)
	}
	if hits := u.Hits(); len(hits) != 0 {
		t.Errorf("%d requests were sent", len(hits))
	}
}

func TestBatchSendsOneRequestPerResourceWithItsKey(t *testing.T) {
	u := harness.NewUpstream(t)
	var mu sync.Mutex
	bodies := make(map[string]string)
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		bodies[r.Method+" "+r.URL.Path] = string(body)
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"result":{"id":9007199254740993}}`)
	})
	r := start(t, u.Addr, batchThings)
	batch := `[{"id":"a@b","op":"replace","path":"/title","value":"first"},{"id":2,"op":"replace","path":"/size","value":12345678901234567890},{"id":"a@b","op":"remove","path":"/size"},{"id":"2","op":"replace","path":"/title","value":"other"}]`
	p := r.do("writer", "PATCH", "/things", batch, "Idempotency-Key", "k-1", "Range", "bytes=0-1")
	if p.Status != 200 || strings.Count(p.Body, "9007199254740993") != 4*2 {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	first := u.Hits()
	want := map[string]string{"PATCH /things/a@b": `{"subject":"first","size":null}`, "PATCH /things/2": `{"size":12345678901234567890,"subject":"other"}`}
	if len(first) != 2 || fmt.Sprint(bodies) != fmt.Sprint(want) {
		t.Errorf("%d requests: %q", len(first), bodies)
	}
	keys := make(map[string]string)
	for _, h := range first {
		keys[h.URL.EscapedPath()] = h.Header.Get("Idempotency-Key")
		if h.Header.Get("Range") != "" || h.Header.Get("Content-Type") != "application/json" || h.Header.Get("Authorization") != "" {
			t.Errorf("%v", h.Header)
		}
	}
	if a, b := keys["/things/a@b"], keys["/things/2"]; a == "" || b == "" || a == b || a == "k-1" {
		t.Errorf("keys %q", keys)
	}
	r.do("writer", "PATCH", "/things", batch, "Idempotency-Key", "k-1")
	for _, h := range u.Hits() {
		if h.Header.Get("Idempotency-Key") != keys[h.URL.EscapedPath()] {
			t.Errorf("the same batch again has the key %q", h.Header.Get("Idempotency-Key"))
		}
	}
	r.do("writer", "PATCH", "/things", batch)
	for _, h := range u.Hits() {
		if h.Header.Get("Idempotency-Key") != "" {
			t.Error("a key that nobody sent")
		}
	}
	// A resource whose bodies nobody translates.
	if p := r.do("writer", "PATCH", "/plain", `[{"id":1,"op":"replace","path":"/a","value":[1, 2]}]`); p.Status != 200 || bodies["PATCH /plain/1"] != `{"a":[1, 2]}` {
		t.Errorf("%d %s %q", p.Status, p.Body, bodies)
	}
}

func TestBatchIsChargedPerItemBeforeSending(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r := startIn(t, "\trespond API_REST", `	api_limit {
		client 50 1h
		limiter one
		headers both
	}
	api_limit {
		client 90 1h
		limiter two
		cost 3 PATCH /things/*
	}
	respond API_REST`, u.Addr, batchThings)
	for _, c := range []struct {
		n, status int
		left      string // in the window of the innermost limit, which has the least
	}{
		{10, 200, "60"}, // 10 of 50, 30 of 90
		{20, 200, "0"},  // 30 of 50, 90 of 90
		{1, 429, ""},    // the request itself
		{60, 429, ""},   // likewise
		{301, 429, ""},  // likewise
		{1, 429, ""},    // a refusal has cost nothing, and changes nothing
	} {
		p := r.do("writer", "PATCH", "/things", items(c.n))
		sent := len(u.Hits())
		if p.Status != c.status || (p.Status == 200) != (sent == c.n) || p.Status != 200 && sent != 0 {
			t.Errorf("%d items: %d %s, %d sent", c.n, p.Status, p.Body, sent)
		}
		if p.Header.Get("X-Ratelimit-Remaining") == "" {
			t.Errorf("%d items: no X-RateLimit-Remaining in %v", c.n, p.Header)
		}
		if p.Status == 429 && p.Header.Get("Retry-After") == "" {
			t.Errorf("%d items: 429 without Retry-After", c.n)
		}
	}
}

func TestBatchLargerThanTheLimitIs413Else429(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r := startIn(t, "\trespond API_REST", "\tapi_limit {\n\t\tclient 50 1h\n\t}\n\trespond API_REST", u.Addr, batchThings)
	for _, c := range []struct{ n, status int }{{51, 413}, {40, 200}, {40, 429}, {1, 200}} {
		p := r.do("writer", "PATCH", "/things", items(c.n))
		sent := len(u.Hits())
		if p.Status != c.status || c.status != 200 && sent != 0 || c.status == 429 && p.Header.Get("Retry-After") == "" {
			t.Errorf("%d items: %d, %d sent, %v", c.n, p.Status, sent, p.Header)
		}
	}
	// 1 + 40 + 1 + 1: what was refused has cost the one unit that asking costs.
	if p := r.do("writer", "PATCH", "/things", items(7)); p.Status != 200 {
		t.Errorf("the last 7: %d %v", p.Status, p.Header)
	}
	if p := r.do("writer", "PATCH", "/things", items(1)); p.Status != 429 {
		t.Errorf("one more: %d %v", p.Status, p.Header)
	}
}

// What a refused batch has cost itself must be in its Retry-After. Otherwise each repetition comes one
// unit too early, and a client that waits as told is never admitted.
func TestRefusedBatchFitsAfterRetryAfter(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r := startIn(t, "\trespond API_REST", "\tapi_limit {\n\t\tclient 4 4s\n\t}\n\trespond API_REST", u.Addr, batchThings)
	begun := time.Now()
	for i := range 3 {
		time.Sleep(time.Until(begun.Add(time.Duration(i) * time.Second)))
		if p := r.do("writer", "PATCH", "/things", items(1)); p.Status != 200 {
			t.Fatalf("one: %d %s", p.Status, p.Body)
		}
	}
	time.Sleep(time.Until(begun.Add(2500 * time.Millisecond)))
	p := r.do("writer", "PATCH", "/things", items(3))
	wait, err := strconv.Atoi(p.Header.Get("Retry-After"))
	if p.Status != 429 || err != nil {
		t.Fatalf("three more: %d %v", p.Status, p.Header)
	}
	time.Sleep(time.Duration(wait) * time.Second)
	if p := r.do("writer", "PATCH", "/things", items(3)); p.Status != 200 {
		t.Errorf("again after %d s: %d %v", wait, p.Status, p.Header)
	}
}

func TestFailedItemAffectsNoOther(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/things/2":
			panic(http.ErrAbortHandler)
		case "/things/3":
			_, _ = io.WriteString(w, `{"result":{"id":3`)
		case "/things/4":
			w.WriteHeader(http.StatusTeapot)
		case "/things/5":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `<html>`)
		case "/things/6":
			_, _ = io.WriteString(w, `{"result":{"id":6,"pad":"`+strings.Repeat("x", 1<<20)+`"}}`)
		case "/things/7":
			w.WriteHeader(http.StatusNoContent)
		case "/things/9":
			w.Header().Set("Location", "/login.php")
			w.WriteHeader(http.StatusFound)
		case "/things/10":
			w.WriteHeader(http.StatusNotModified)
		case "/things/8":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"result":{`)
		default:
			_, _ = io.WriteString(w, `{"result":{"id":1}}`)
		}
	})
	r := start(t, u.Addr, batchThings)
	p := r.do("writer", "PATCH", "/things", items(10))
	all := tell(t, p)
	var got []int
	for _, d := range all.Data {
		got = append(got, d.Status)
		if (d.Error != nil) != (d.Status >= 300) {
			t.Errorf("%v", d)
		}
	}
	if want := []int{200, 502, 502, 418, 502, 200, 204, 502, 502, 502}; p.Status != 207 || !slices.Equal(got, want) {
		t.Errorf("%d %v, want %v", p.Status, got, want)
	}
	if len(p.Body) > 64<<10 || all.Data[5].Data != nil {
		t.Errorf("an answer of 1 MiB is passed on: %d bytes", len(p.Body))
	}
}

// The beginning of a long number is a number.
func TestTruncatedAnswerIsNotTakenForComplete(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, batchThings)
	u.Answer(says("application/json", strings.Repeat("1", 70_000)))
	p := r.do("writer", "PATCH", "/plain", `[{"id":1,"op":"replace","path":"/a","value":1}]`)
	if want := `{"data":[{"id":1,"status":200,"data":null}]}`; p.Status != 200 || p.Body != want {
		t.Errorf("%d %.200s, want %s", p.Status, p.Body, want)
	}
}

func TestStartedBatchItemsFinishAfterADisconnect(t *testing.T) {
	u := harness.NewUpstream(t)
	var begun, finished atomic.Int32
	sent := make(chan struct{}, 100)
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		begun.Add(1)
		sent <- struct{}{}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(300 * time.Millisecond):
		}
		finished.Add(1)
		w.WriteHeader(http.StatusNoContent)
	})
	r := start(t, u.Addr, batchThings)
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "PATCH", r.API+"/things", strings.NewReader(items(40)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+r.token("writer"))
	go func() {
		for range 4 { // at a time
			<-sent
		}
		leave()
	}()
	if res, err := http.DefaultClient.Do(req); err == nil {
		_ = res.Body.Close()
		t.Fatal("the client did not go")
	}
	time.Sleep(time.Second)
	if b, f := begun.Load(), finished.Load(); b != 4 || f != 4 {
		t.Errorf("%d begun, %d finished", b, f)
	}
}

func TestBatchWorksBelowNestedAndVersionedPaths(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r := start(t, u.Addr, `"vendor": "acme", "versions": [{"name": "v1", "strip_prefix": true}], "upstream": $TO, "resources": [{"path": "shelves", "nested": [{"path": "books", "batch": ["title"]}]}]`)
	p := r.do("writer", "PATCH", "/v1/shelves/a%40b/books", items(2))
	hits := u.Hits()
	if p.Status != 200 || len(hits) != 2 || !strings.HasPrefix(hits[0].URL.EscapedPath(), "/shelves/a@b/books/") {
		t.Errorf("%d %s, %d requests", p.Status, p.Body, len(hits))
	}
	p = r.do("writer", "PATCH", "/shelves/1/books", items(1), "Accept", "application/vnd.acme.v1+json")
	if p.Header.Get("Content-Type") != "application/vnd.acme.v1+json" {
		t.Errorf("%d %v", p.Status, p.Header)
	}
}
