package restapi

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const listed = `"upstream": $TO, "resources": [{"path": "things", "routes": [
	{"method": "GET", "path": "/things", "upstream": "/things"}, {"method": "POST", "path": "/things", "upstream": "/things"},
	{"method": "GET", "path": "/things/{id:.+}", "upstream": "/things/{id}"}, {"method": "PUT", "path": "/things/{id}", "upstream": "/things/{id}"},
	{"method": "PATCH", "path": "/things/{id}", "upstream": "/things/{id}"}, {"method": "DELETE", "path": "/things/{id}", "upstream": "/things/{id}"}
	], "list": {"items": "/list", "total": "/total"}, "item": "/r", "id": "/id", "links": [{"rel": "self"}]}]`

// passing has types that pass as they are.
var passing = strings.Replace(listed, `"item"`, `"pass": ["text/event-stream", "application/x-ndjson", "image/*", "text/html"], "item"`, 1)

// open sends a request and returns the answer while it is still coming.
func (r *rig) open(ctx context.Context, client, method, path string, header ...string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, r.API+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token(client))
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableCompression: true}}).Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

func TestLongListIsStreamed(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, listed)
	proceed := make(chan bool)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, `{"total":100,"list":[`)
		for range 200 {
			_, _ = io.WriteString(w, `{"id":1,"t":"`+strings.Repeat("x", 1000)+`"},`)
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-proceed:
		case <-q.Context().Done():
		}
		_, _ = io.WriteString(w, `{"id":2}]}`)
	})
	res := r.open(t.Context(), "reader", http.MethodGet, "/things?limit=100")
	first := make([]byte, 32<<10)
	if _, err := io.ReadFull(res.Body, first); err != nil || res.StatusCode != 200 || !strings.HasPrefix(string(first), `{"data":[{"id":1,`) {
		t.Fatalf("%v %d %.100s", err, res.StatusCode, first)
	}
	if l := res.Header.Get("Link"); !strings.Contains(l, "first") || strings.Contains(l, "next") { // one page of 100
		t.Error(l)
	}
	close(proceed)
	rest, err := io.ReadAll(res.Body)
	if err != nil || !strings.HasSuffix(string(rest), `"pagination":{"total":100,"page":1,"limit":100,"total_pages":1}}`) {
		t.Errorf("%v %.100s", err, rest[max(0, len(rest)-100):])
	}
}

func TestUpstreamDyingMidAnswer(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, listed)
	for _, c := range []struct {
		name     string
		elements int
		length   int // announced; 0: in chunks
	}{{"early, in chunks", 1, 0}, {"early, of announced length", 1, 1 << 20}, {"late, in chunks", 300, 0}, {"late, of announced length", 300, 1 << 20}} {
		t.Run(c.name, func(t *testing.T) {
			u.Answer(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json; charset=utf-8")
				if c.length > 0 {
					w.Header().Set("Content-Length", fmt.Sprint(c.length))
				}
				_, _ = io.WriteString(w, `{"list":[`+strings.Repeat(`{"id":1,"t":"`+strings.Repeat("x", 1000)+`"},`, c.elements))
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			})
			res := r.open(t.Context(), "reader", http.MethodGet, "/things?limit=100")
			body, err := io.ReadAll(res.Body)
			if c.elements == 1 {
				if res.StatusCode != 502 || err != nil || !strings.Contains(string(body), `"upstream_error"`) {
					t.Errorf("%d %v %.200s", res.StatusCode, err, body)
				}
				return
			}
			if res.StatusCode != 200 || !errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(string(body), "pagination") {
				t.Errorf("%d %v %.200s", res.StatusCode, err, body[max(0, len(body)-200):])
			}
		})
	}
	t.Run("late, and ended as if it were whole", func(t *testing.T) {
		u.Answer(says("application/json; charset=utf-8", `{"list":[`+strings.Repeat(`{"id":1,"t":"`+strings.Repeat("x", 1000)+`"},`, 300)))
		res := r.open(t.Context(), "reader", http.MethodGet, "/things?limit=100")
		if body, err := io.ReadAll(res.Body); res.StatusCode != 200 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d %v %.200s", res.StatusCode, err, body[max(0, len(body)-200):])
		}
	})
	if n := r.Metric(t, `caddy_gatehouse_rest_requests_total{operation="list"}`); n < 4 {
		t.Errorf("counted %v lists", n)
	}
}

func TestServerSentEventsAreStreamed(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, passing)
	next := make(chan bool)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			_, _ = fmt.Fprintf(w, "data: {\"n\":%d}\n\n", i)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-next:
			case <-q.Context().Done():
				return
			}
		}
	})
	res := r.open(t.Context(), "reader", http.MethodGet, "/things/1")
	lines := bufio.NewReader(res.Body)
	for i := range 3 {
		if line, err := lines.ReadString('\n'); err != nil || line != fmt.Sprintf("data: {\"n\":%d}\n", i) {
			t.Fatalf("%v %q", err, line)
		}
		_, _ = lines.ReadString('\n')
		next <- true
	}
}

func TestWebSocketIsProxied(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"undeclared": "pass", `+listed)
	const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		sum := sha1.Sum([]byte(q.Header.Get("Sec-Websocket-Key") + guid))
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Sec-WebSocket-Accept", base64.StdEncoding.EncodeToString(sum[:]))
		w.WriteHeader(http.StatusSwitchingProtocols)
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		line, _ := rw.ReadString('\n')
		_, _ = io.WriteString(c, "echo "+line)
	})
	for _, path := range []string{"/things/1", "/socket"} {
		c := harness.Dial(t, r.API)
		_, _ = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
			path, strings.TrimPrefix(r.API, "http://"), r.token("reader"))
		from := bufio.NewReader(c)
		res, err := http.ReadResponse(from, nil)
		if err != nil || res.StatusCode != 101 {
			t.Fatalf("%s: %v %v", path, err, res)
		}
		_, _ = io.WriteString(c, "hello\n")
		if line, err := from.ReadString('\n'); line != "echo hello\n" {
			t.Errorf("%s: %v %q", path, err, line)
		}
	}
}

func TestTrailersReachTheClient(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"header_down": ["X-Sum"], `+listed)
	u.Answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Trailer", "X-Sum")
		_, _ = io.WriteString(w, `{"r":{"id":1}}`)
		_ = http.NewResponseController(w).Flush()
		w.Header().Set("X-Sum", "7")
	})
	res := r.open(t.Context(), "reader", http.MethodGet, "/things/1")
	body, err := io.ReadAll(res.Body)
	if err != nil || !strings.HasPrefix(string(body), `{"id":1,`) || res.Trailer.Get("X-Sum") != "7" || res.Header.Get("X-Sum") != "" {
		t.Errorf("%v %s %v %v", err, body, res.Header, res.Trailer)
	}
}

func TestClientDisconnectEndsTheUpstreamRequest(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, listed)
	gone := make(chan bool, 1)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, `{"list":[`)
		for i := 0; ; i++ {
			if _, err := io.WriteString(w, `{"id":1,"t":"`+strings.Repeat("x", 1000)+`"},`); err != nil || q.Context().Err() != nil {
				gone <- true
				return
			}
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	res := r.open(ctx, "reader", http.MethodGet, "/things?limit=100")
	_, _ = io.ReadFull(res.Body, make([]byte, 1000))
	cancel()
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Error("the upstream still writes")
	}
}
