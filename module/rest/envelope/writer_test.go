package envelope

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// through runs an upstream behind a Writer as the gateway does.
func through(t *testing.T, c *Config, method string, upstream http.HandlerFunc, accept ...string) *httptest.ResponseRecorder {
	t.Helper()
	rec := httptest.NewRecorder()
	r := httptest.NewRequest(method, "/x", nil)
	r.Header["Accept"] = accept
	w := NewWriter(rec, r, c)
	upstream(w, r)
	w.Finish()
	return rec
}

func answer(status int, header map[string]string, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func enveloped(code, message, field string) string {
	return string(Error{Code: code, Message: message, Field: field}.json())
}

func TestOversizedErrorIsAnsweredAtTheLimit(t *testing.T) {
	rec := httptest.NewRecorder()
	w := NewWriter(rec, httptest.NewRequest("GET", "/", nil), &Config{})
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(404)
	chunk := []byte("<title>Lost</title>" + strings.Repeat(" ", 1005))
	for n := 0; n <= maxBody; n += len(chunk) {
		if rec.Body.Len() != 0 {
			t.Fatalf("answered after %d bytes", n)
		}
		if _, err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	want := enveloped("not_found", "Lost", "")
	if rec.Body.String() != want || cap(w.held.body) != 0 {
		t.Fatalf("%q is answered, %d bytes are held", rec.Body, cap(w.held.body))
	}
	if n, err := w.Write(chunk); n != len(chunk) || err != nil {
		t.Fatal("what comes after the limit must be swallowed", n, err)
	}
	w.Finish()
	if rec.Body.String() != want || w.Fail(500, Error{}) {
		t.Fatal("answered twice")
	}
}

func TestBodyOfExactlyTheLimitIsRead(t *testing.T) {
	body := `{"message":"m"}`
	body += strings.Repeat(" ", maxBody-len(body))
	if rec := through(t, &Config{}, "GET", answer(404, nil, body)); rec.Body.String() != enveloped("not_found", "m", "") {
		t.Fatal(rec.Body)
	}
	if rec := through(t, &Config{}, "GET", answer(404, nil, body+" ")); rec.Body.String() != enveloped("not_found", Lookup(404).Message, "") {
		t.Fatal(rec.Body)
	}
}

func TestOneByteChunksMakeNoDifference(t *testing.T) {
	rec := through(t, &Config{}, "GET", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(404)
		for _, b := range []byte(`{"message":"m"}`) {
			_, _ = w.Write([]byte{b})
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
		}
		if n, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader("  ")); n != 2 || err != nil {
			t.Error(n, err)
		}
	})
	if rec.Body.String() != enveloped("not_found", "m", "") {
		t.Fatal(rec.Body)
	}
}

func TestSuccessesAreUntouched(t *testing.T) {
	for _, status := range []int{200, 201, 202, 204, 206, 207, 301, 304, 399} {
		h := map[string]string{"Etag": `"e"`, "Content-Type": "text/event-stream", "Content-Encoding": "br"}
		rec := through(t, &Config{UpstreamAuth: true, ProblemJSON: true}, "GET", answer(status, h, "data: x\n\n"), "application/problem+json")
		if rec.Code != status || rec.Header().Get("Etag") != `"e"` || rec.Header().Get("Cache-Control") != "" || rec.Body.String() != "data: x\n\n" {
			t.Errorf("%d: %v %q", status, rec.Header(), rec.Body)
		}
	}
	rec := through(t, &Config{}, "GET", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
	if rec.Code != 200 || rec.Body.String() != "<html>" {
		t.Error("without WriteHeader:", rec.Code, rec.Body)
	}
}

func TestHEADGetsErrorHeadersOnly(t *testing.T) {
	rec := through(t, &Config{}, "HEAD", answer(404, map[string]string{"Content-Length": "4711", "Content-Type": "text/html"}, ""))
	if rec.Code != 404 || rec.Body.Len() != 0 || rec.Header().Get("Content-Type") != "application/json" || rec.Header().Get("Content-Length") != "" {
		t.Error(rec.Code, rec.Header(), rec.Body)
	}
	own := httptest.NewRecorder()
	Write(own, httptest.NewRequest("HEAD", "/", nil), 429, Error{})
	if own.Body.Len() != 0 || own.Header().Get("Content-Length") == "" {
		t.Error(own.Header(), own.Body)
	}
}

func TestProtocolAnswerIsLeftUntouched(t *testing.T) {
	body := `{"error":"invalid_grant"}`
	rec := through(t, &Config{UpstreamAuth: true}, "POST", func(w http.ResponseWriter, r *http.Request) {
		w.(*Writer).Untouched()
		answer(401, map[string]string{"Etag": `"e"`}, body)(w, r)
	})
	if rec.Code != 401 || rec.Body.String() != body || rec.Header().Get("Etag") == "" {
		t.Fatal(rec.Code, rec.Body)
	}
}

func TestUpstreamAuthRefusalIsA502(t *testing.T) {
	for _, status := range []int{401, 403} {
		h := map[string]string{"Www-Authenticate": "Basic realm=\"legacy\"", "Content-Type": "application/json"}
		body := `{"error":{"code":"c","message":"m"}}`
		rec := through(t, &Config{UpstreamAuth: true}, "GET", answer(status, h, body))
		if rec.Code != 502 || rec.Header().Get("Www-Authenticate") != "" || !strings.Contains(rec.Body.String(), `"upstream_auth_failed"`) {
			t.Error(rec.Code, rec.Header(), rec.Body)
		}
		if rec = through(t, &Config{}, "GET", answer(status, h, "x")); rec.Code != status || rec.Header().Get("Www-Authenticate") == "" {
			t.Error("without the option:", rec.Code, rec.Header())
		}
	}
}

func TestExposePasses5xxMessages(t *testing.T) {
	rec := through(t, &Config{Expose: true}, "GET", answer(500, nil, `{"message":"quota table is locked"}`))
	if rec.Body.String() != enveloped("upstream_error", "quota table is locked", "") {
		t.Fatal(rec.Body)
	}
}

func TestFailReplacesOnlyABufferedAnswer(t *testing.T) {
	rec := httptest.NewRecorder()
	w := NewWriter(rec, httptest.NewRequest("GET", "/", nil), &Config{})
	w.Header().Set("Retry-After", "3")
	w.WriteHeader(404)
	_, _ = io.WriteString(w, "half")
	if w.Committed() || !w.Fail(503, Error{}) || !w.Committed() {
		t.Fatal("an error that is held can be replaced")
	}
	_, _ = io.WriteString(w, "more")
	w.Finish()
	if e := Lookup(503); rec.Code != 503 || rec.Body.String() != enveloped(e.Code, e.Message, "") || rec.Header().Get("Retry-After") != "3" {
		t.Fatal(rec.Code, rec.Body)
	}
	rec = httptest.NewRecorder()
	w = NewWriter(rec, httptest.NewRequest("GET", "/", nil), &Config{})
	_, _ = io.WriteString(w, "200")
	if w.Fail(503, Error{}) || rec.Body.String() != "200" {
		t.Fatal("a success that was sent cannot be replaced")
	}
}

func TestTrailersOfTheReplacedBodyAreDropped(t *testing.T) {
	rec := through(t, &Config{}, "GET", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Checksum, X-Other")
		w.WriteHeader(404)
		w.Header().Set("X-Checksum", "1")
		w.Header().Set("X-Kept", "1")
		w.Header().Set(http.TrailerPrefix+"X-Late", "1")
	})
	for name := range rec.Header() {
		if name == "Trailer" || strings.Contains(name, "Checksum") || strings.Contains(name, "Late") {
			t.Error(name, "was sent")
		}
	}
	if rec.Header().Get("X-Kept") == "" {
		t.Error("another field is gone")
	}
}

// serve runs a handler behind a Writer in a real server.
func serve(t *testing.T, c *Config, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ew := NewWriter(w, r, c)
		h(ew, r)
		ew.Finish()
	}))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	return s
}

func TestUpstreamDyingMidBodyAbortsTheConnection(t *testing.T) {
	for _, status := range []int{200, 404} {
		s := serve(t, &Config{}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"mess`)
			panic(http.ErrAbortHandler)
		})
		resp, err := s.Client().Get(s.URL)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if err == nil {
			t.Errorf("%d: the answer looks complete", status)
		}
	}
}

func TestInformationalAnswersPassUnchanged(t *testing.T) {
	s := serve(t, &Config{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(404)
		_, _ = io.WriteString(w, "lost")
	})
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	all, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(all); !strings.HasPrefix(s, "HTTP/1.1 103") || !strings.Contains(s, "HTTP/1.1 404") || !strings.Contains(s, `"lost"`) {
		t.Fatal(s)
	}
}

func TestUpgradeSupportsHijackAndDeadlines(t *testing.T) {
	s := serve(t, &Config{}, func(w http.ResponseWriter, _ *http.Request) {
		rc := http.NewResponseController(w)
		if err := rc.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Error(err)
		}
		w.Header().Set("Upgrade", "echo")
		w.Header().Set("Connection", "Upgrade")
		w.WriteHeader(http.StatusSwitchingProtocols)
		conn, rw, err := rc.Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		line, _ := rw.ReadString('\n')
		_, _ = io.WriteString(conn, line)
		_ = conn.Close()
	})
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nping\n")
	br := bufio.NewReader(conn)
	resp, err := http.ReadResponse(br, nil)
	if err != nil || resp.StatusCode != 101 {
		t.Fatal(resp, err)
	}
	if line, _ := br.ReadString('\n'); line != "ping\n" {
		t.Fatal(line)
	}
}

type readerFrom struct {
	http.ResponseWriter
	used bool
}

func (r *readerFrom) ReadFrom(io.Reader) (int64, error) { r.used = true; return 0, nil }

func TestSendfileStaysPossible(t *testing.T) {
	inner := &readerFrom{ResponseWriter: httptest.NewRecorder()}
	w := NewWriter(inner, httptest.NewRequest("GET", "/", nil), &Config{})
	if _, err := io.Copy(w, struct{ io.Reader }{strings.NewReader("x")}); err != nil || !inner.used {
		t.Fatal(inner.used, err)
	}
	bare := httptest.NewRecorder()
	w = NewWriter(struct{ http.ResponseWriter }{bare}, httptest.NewRequest("GET", "/", nil), &Config{})
	if _, err := w.ReadFrom(strings.NewReader("x")); err != nil || bare.Body.String() != "x" {
		t.Fatal(bare.Body, err)
	}
	if err := w.FlushError(); !errors.Is(err, http.ErrNotSupported) {
		t.Fatal(err)
	}
	w.Flush()
}

func TestErrorBodyIsAlwaysAnEnvelope(t *testing.T) {
	rec := through(t, &Config{}, "GET", answer(400, nil, "<>&\u2028\xff"))
	if !json.Valid(rec.Body.Bytes()) {
		t.Fatal(rec.Body)
	}
}
