package restapi

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const unneeded = `"upstream": $TO, "resources": [{"path": "files", "query": [{"name": "version"}]}, {"path": "tagged", "etag": true}, {"path": "renamed", "rename": {"title": "name"}}]`

// stock is an API with large and endless answers. It counts the bytes of bodies that it got rid of.
type stock struct {
	sent  atomic.Int64
	ended chan string // the path of an answer to GET that has ended
}

const large = 64 << 20

func (s *stock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	defer func() { s.ended <- r.URL.Path }()
	h := w.Header()
	h.Set("ETag", `"v1"`)
	var err error
	switch r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:] {
	case "stream":
		h.Set("Content-Type", "text/event-stream")
		h.Del("ETag")
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return
	case "json":
		h.Set("Content-Type", "application/json")
		_, err = io.WriteString(w, `{"name":"`)
	default:
		h.Set("Content-Type", "application/zip")
		h.Set("Content-Length", fmt.Sprint(large))
	}
	for n := 0; n < large && err == nil; n += 32 << 10 {
		_, err = io.WriteString(w, strings.Repeat("0", 32<<10))
		s.sent.Add(32 << 10)
	}
	if r.URL.Path == "/renamed/json" {
		_, _ = io.WriteString(w, `"}`)
	}
}

// Of an answer of which nothing more is needed, the API sends only a little more, and the client's connection goes on.
func TestAnswerThatIsNotNeededEnds(t *testing.T) {
	u, s := harness.NewUpstream(t), &stock{ended: make(chan string, 100)}
	u.Answer(s.ServeHTTP)
	r := start(t, u.Addr, unneeded)
	tag := r.do("reader", "HEAD", "/tagged/zip", "").Header.Get("Etag")
	<-s.ended
	reader, writer := r.token("reader"), r.token("writer")
	for _, c := range []struct {
		token, line, condition string
		status                 int
		length                 string
	}{
		{reader, "HEAD /files/zip", "", 200, fmt.Sprint(large)},
		{reader, "HEAD /tagged/zip", "", 200, fmt.Sprint(large)},
		{reader, "HEAD /tagged/json", "", 200, ""},
		{reader, "HEAD /renamed/json", "", 200, ""},
		{reader, "HEAD /files/stream", "", 200, ""},
		{reader, "HEAD /tagged/stream", "", 200, ""},
		{reader, "GET /tagged/zip", "\r\nIf-None-Match: " + tag, 304, ""},
		{writer, "PUT /tagged/zip", "\r\nIf-Match: *", 204, ""},
		{writer, "PUT /tagged/zip", "\r\nIf-Match: " + tag, 204, ""},
		{writer, "DELETE /tagged/stream", "\r\nIf-Match: *", 204, ""},
	} {
		s.sent.Store(0)
		conn := harness.Dial(t, r.API)
		in := bufio.NewReader(conn)
		send := func(line, header string) {
			_, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s\r\n\r\n", line, strings.TrimPrefix(r.API, "http://"), c.token, header)
			harness.FailOn(t, err)
		}
		begun := time.Now()
		send(c.line, "Content-Length: 0\r\nX-A: 1"+c.condition)
		method, _, _ := strings.Cut(c.line, " ")
		p := harness.ReadAnswer(t, in, method)
		if p.Status != c.status || c.length != "" && p.Header.Get("Content-Length") != c.length {
			t.Errorf("%s %s: %d %v %s", c.line, c.condition, p.Status, p.Header, p.Body)
		}
		send("OPTIONS /files/1", "X-A: 1")
		if next := harness.ReadAnswer(t, in, "OPTIONS"); next.Status != http.StatusNoContent || time.Since(begun) > 20*time.Second {
			t.Errorf("%s %s: the next answer is %d after %v", c.line, c.condition, next.Status, time.Since(begun))
		}
		select {
		case <-s.ended:
		case <-time.After(20 * time.Second):
			t.Errorf("%s %s: the API still sends", c.line, c.condition)
		}
		if sent := s.sent.Load(); sent > large/4 {
			t.Errorf("%s %s: the API sent %d bytes", c.line, c.condition, sent)
		}
	}
}
