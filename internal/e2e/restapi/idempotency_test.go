package restapi

import (
	"context"
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

const orders = `"upstream": $TO, "resources": [{
	"path": "orders", "idempotency": true, "created": {"status": 201}, "links": [{"rel": "self"}], "validate": [{"field": "n", "required": true}]
}, {"path": "raw", "idempotency": true}]`

const twoNodes = `	@two header X-Node two
	handle @two {
		respond API_REST
	}
	respond API_REST`

func TestRepeatedPostGetsTheFirstAnswer(t *testing.T) {
	r := start(t, legacy(t), with(`"idempotency": true`))
	const body = `{"title":"Hello, world","body":"x"}`
	first := r.do("writer", "POST", "/articles", body, "Idempotency-Key", "k1")
	if first.Status != 201 || first.Header.Get("Idempotency-Replayed") != "" {
		t.Fatal(first.Status, first.Header, first.Body)
	}
	again := r.do("writer", "POST", "/articles", body, "Idempotency-Key", `"k1"`)
	if again.Status != 201 || again.Body != first.Body || again.Header.Get("Location") != first.Header.Get("Location") || again.Header.Get("Idempotency-Replayed") != "true" ||
		again.Header.Get("Content-Type") != "application/json" {
		t.Error(again.Status, again.Header, again.Body)
	}
	if other := r.do("writer", "POST", "/articles", body+" ", "Idempotency-Key", "k1"); other.Status != 422 || !strings.Contains(other.Body, `"field":"Idempotency-Key"`) {
		t.Error(other.Status, other.Body)
	}
	if other := r.do("writer", "POST", "/articles", body, "Idempotency-Key", "k2"); other.Status != 201 || other.Header.Get("Location") == first.Header.Get("Location") {
		t.Error(other.Status, other.Header)
	}
	if none := r.do("writer", "POST", "/articles", body); none.Status != 201 || none.Header.Get("Idempotency-Replayed") != "" {
		t.Error(none.Status, none.Header)
	}
	if bad := r.do("writer", "POST", "/articles", body, "Idempotency-Key", strings.Repeat("x", 256)); bad.Status != 400 {
		t.Error(bad.Status)
	}
	// What the gateway refuses leaves the key free.
	if bad := r.do("writer", "POST", "/articles", `{"title":"abc"}`, "Idempotency-Key", "k3"); bad.Status != 400 {
		t.Error(bad.Status)
	}
	if good := r.do("writer", "POST", "/articles", body, "Idempotency-Key", "k3"); good.Status != 201 || good.Header.Get("Idempotency-Replayed") != "" {
		t.Error(good.Status, good.Body)
	}
}

// curl and browsers choose another boundary each time they send a form.
func TestRepeatedFormMayHaveAnotherBoundary(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, _ *http.Request) { whole(w, 1) })
	r := start(t, u.Addr, orders)
	send := func(boundary, content string) harness.Page {
		body := "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n" + content + "\r\n--B--\r\n"
		return r.do("writer", "POST", "/raw", strings.ReplaceAll(body, "--B", "--"+boundary), "Idempotency-Key", "k1", "Content-Type", "multipart/form-data; boundary="+boundary)
	}
	first := send("first", "x")
	if again := send("second", "x"); first.Status != 201 || again.Status != 201 || again.Body != first.Body || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%d %s, then %d %s", first.Status, first.Body, again.Status, again.Body)
	}
	if other := send("third", "y"); other.Status != 422 {
		t.Errorf("another form: %d %s", other.Status, other.Body)
	}
	if hits := len(u.Hits()); hits != 1 {
		t.Errorf("the API got %d requests", hits)
	}
}

// Two callers that an API knows by what they send may choose one key, an order's number.
func TestUnguardedCallersHaveSeparateIdempotencyKeys(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"of":%q}`, r.Header.Get("X-Api-Key")+r.Header.Get("Cookie")+r.Header.Get("X-Auth-Token"))
	})
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "open", "idempotency": true, "header_up": ["Cookie"]}]`)
	for _, who := range [][2]string{{"X-Api-Key", "alice"}, {"X-Api-Key", "bob"}, {"X-Auth-Token", "alice"}, {"Cookie", "session=1"}, {"Cookie", "session=2"}, {"X-Request-Id", "1"}} {
		for _, replayed := range []string{"", "true"} {
			p := r.do("", "POST", "/open", `{}`, "Idempotency-Key", "4711", who[0], who[1])
			want := `{"of":"` + who[1] + `"}`
			if who[0] == "X-Request-Id" {
				want = `{"of":""}`
			}
			if p.Status != 201 || p.Body != want || p.Header.Get("Idempotency-Replayed") != replayed {
				t.Errorf("%v: %d %s, replayed %q, want %s %q", who, p.Status, p.Body, p.Header.Get("Idempotency-Replayed"), want, replayed)
			}
		}
	}
}

func TestParallelRequestsWithOneKeyReachTheUpstreamOnce(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(100 * time.Millisecond)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":1}`)
	})
	r := startIn(t, "\trespond API_REST", twoNodes, u.Addr, orders)
	r.token("writer")
	var mu sync.Mutex
	count := make(map[int]int)
	var all sync.WaitGroup
	for i := range 64 {
		node := []string{"one", "two"}[i%2]
		all.Go(func() {
			p := r.do("writer", "POST", "/orders", `{"n":1}`, "Idempotency-Key", "the same", "X-Node", node)
			mu.Lock()
			defer mu.Unlock()
			count[p.Status]++
			if p.Status == 409 && p.Header.Get("Retry-After") == "" {
				t.Error("409 without Retry-After")
			}
		})
	}
	all.Wait()
	if n := len(u.Hits()); n != 1 || count[201] < 1 || count[201]+count[409] != 64 {
		t.Errorf("%d requests reached the upstream: %v", n, count)
	}
	if p := r.do("writer", "POST", "/orders", `{"n":1}`, "Idempotency-Key", "the same", "X-Node", "two"); p.Status != 201 || p.Header.Get("Idempotency-Replayed") != "true" {
		t.Error(p.Status, p.Header)
	}
	// Another caller's key of this text is another key.
	if p := r.do("reader", "POST", "/orders", `{"n":1}`, "Idempotency-Key", "the same"); p.Status != 403 {
		t.Error(p.Status)
	}
}

// What the upstream answers says whether it can be sent again.
func TestFirstRequestsOutcomeDecidesTheSecond(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, orders)
	for name, c := range map[string]struct {
		answer        http.HandlerFunc
		first, second int
		hits          int
		replayed      bool
	}{
		"a refusal":       {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(422) }, 422, 422, 1, true},
		"an error":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 500, 500, 1, true},
		"not now":         {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, 503, 503, 2, false},
		"too many":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, 429, 429, 2, false},
		"no answer":       {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 502, 409, 1, false},
		"a bad gateway":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(504) }, 504, 409, 1, false},
		"half an answer":  {func(w http.ResponseWriter, _ *http.Request) { half(w, `{"id":`) }, 502, 409, 1, false},
		"too large":       {func(w http.ResponseWriter, _ *http.Request) { whole(w, 70000) }, 201, 409, 1, false},
		"just not larger": {func(w http.ResponseWriter, _ *http.Request) { whole(w, 60000) }, 201, 201, 1, true},
		"a cookie":        {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Set-Cookie", "a=b"); whole(w, 1) }, 201, 201, 1, true},
	} {
		u.Answer(c.answer)
		first := r.do("writer", "POST", "/orders", `{"n":1}`, "Idempotency-Key", name)
		second := r.do("writer", "POST", "/orders", `{"n":1}`, "Idempotency-Key", name)
		if n := len(u.Hits()); first.Status != c.first || second.Status != c.second || n != c.hits || (second.Header.Get("Idempotency-Replayed") != "") != c.replayed {
			t.Errorf("%s: %d %s, then %d %s; %d requests", name, first.Status, first.Body[:min(200, len(first.Body))], second.Status, second.Body[:min(200, len(second.Body))], n)
		}
		if c.replayed && (second.Body != first.Body || second.Header.Get("Set-Cookie") != "") {
			t.Errorf("%s: %s, then %s", name, first.Body, second.Body)
		}
	}
}

func half(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, text)
}

func whole(w http.ResponseWriter, size int) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"id":1,"pad":"%s"}`, strings.Repeat("x", size))
}

func TestUnreachableUpstreamFreesTheIdempotencyKey(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	r := start(t, addr, orders)
	for range 2 {
		if p := r.do("writer", "POST", "/orders", `{"n":1}`, "Idempotency-Key", "k"); p.Status != 502 {
			t.Errorf("%d %s", p.Status, p.Body)
		}
	}
}

func TestIdempotentRetryGetsTheMissedAnswer(t *testing.T) {
	u := harness.NewUpstream(t)
	var calls atomic.Int32
	reached := make(chan struct{}, 2)
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		body, _ := io.ReadAll(r.Body)
		reached <- struct{}{}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(300 * time.Millisecond):
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	})
	r := start(t, u.Addr, orders)
	for _, path := range []string{"/orders", "/raw"} {
		calls.Store(0)
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "POST", r.API+path, strings.NewReader(`{"n":1}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+r.token("writer"))
		req.Header.Set("Idempotency-Key", "k")
		go func() { <-reached; leave() }()
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
			t.Fatal("the client did not go")
		}
		if p := r.do("writer", "POST", path, `{"n":1}`, "Idempotency-Key", "k"); p.Status != 409 || !strings.Contains(p.Body, "idempotency_in_progress") {
			t.Errorf("%s: at once: %d %s", path, p.Status, p.Body)
		}
		time.Sleep(600 * time.Millisecond)
		if p := r.do("writer", "POST", path, `{"n":1}`, "Idempotency-Key", "k"); p.Status != 201 || p.Header.Get("Idempotency-Replayed") != "true" || !strings.Contains(p.Body, `"n":1`) || calls.Load() != 1 {
			t.Errorf("%s: later: %d %s, %d requests", path, p.Status, p.Body, calls.Load())
		}
	}
}

func TestIdempotentAnswerSurvivesAReload(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, _ *http.Request) { whole(w, 10) })
	r := start(t, u.Addr, orders)
	first := r.do("writer", "POST", "/orders", `{"n":1}`, "Idempotency-Key", "k")
	r.ChangeConfigs(r.with(u.Addr, orders))
	r.Load(t, site)
	if p := r.do("writer", "POST", "/orders", `{"n":1}`, "Idempotency-Key", "k"); p.Status != 201 || p.Body != first.Body || p.Header.Get("Idempotency-Replayed") != "true" || len(u.Hits()) != 1 {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}
