package envelope

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/simplifiedchinese"
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

func TestUpstreamErrorsAreTranslated(t *testing.T) {
	const js, page, plain = "application/json", "text/html", "text/plain; charset=utf-8"
	generic := func(status int) string { e := Lookup(status); return enveloped(e.Code, e.Message, "") }
	long := strings.Repeat("w", 300)
	for _, c := range []struct {
		name   string
		status int
		media  string
		body   string
		kind   Kind
		want   string
	}{
		{"message", 404, js, `{"message":"No such article"}`, JSON, enveloped("not_found", "No such article", "")},
		{"error as a text", 409, js, `{"error":"Already there"}`, JSON, enveloped("conflict", "Already there", "")},
		{"error as an object", 403, js, `{"error":{"message":"Not yours"}}`, JSON, enveloped("forbidden", "Not yours", "")},
		{"code and msg", 400, js, `{"code":40013,"msg":"invalid appid"}`, JSON, enveloped("bad_request", "invalid appid", "")},
		{"a field", 400, js, `{"msg":"too short","field":"title"}`, JSON, enveloped("invalid_parameter", "too short", "title")},
		{"a list of errors", 422, js, `{"errors":[{"detail":"too short","source":{"pointer":"/data/title"}}]}`, JSON, enveloped("validation_failed", "too short", "/data/title")},
		{"a list of texts", 422, js, `{"errors":["too short"]}`, JSON, enveloped("validation_failed", "too short", "")},
		{"errors by field", 422, js, `{"message":"Invalid data","errors":{"email":["taken"],"a":["b"]}}`, JSON, enveloped("validation_failed", "Invalid data", "email")},
		{"an array", 400, js, `[{"message":"m","path":"p"}]`, JSON, enveloped("invalid_parameter", "m", "p")},
		{"a JSON text", 404, js, `"gone fishing"`, JSON, enveloped("not_found", "gone fishing", "")},
		{"a number", 404, js, `17`, JSON, generic(404)},
		{"null", 404, js, `null`, JSON, generic(404)},
		{"empty object", 404, js, `{}`, JSON, generic(404)},
		{"problem", 409, "application/problem+json", `{"type":"about:blank","title":"Conflict","status":409,"detail":"Version 3 is newer"}`, JSON, enveloped("conflict", "Version 3 is newer", "")},
		{"repeated members", 404, js, `{"message":"first","message":"last"}`, JSON, enveloped("not_found", "last", "")},
		{"JSON labelled HTML", 404, page, `{"message":"m"}`, JSON, enveloped("not_found", "m", "")},
		{"JSON without a label", 404, "", `{"message":"m"}`, JSON, enveloped("not_found", "m", "")},
		{"JSON behind a notice", 404, page, "<br />\n<b>Notice</b>: x {y} <br />\n{\"message\":\"m\"}", JSON, enveloped("not_found", "m", "")},
		{"JSON behind a BOM", 404, js, "\xef\xbb\xbf{\"message\":\"m\"}", JSON, enveloped("not_found", "m", "")},
		{"JSON cut short", 404, js, `{"message":"m`, Other, generic(404)},
		{"NaN", 404, js, `{"message":"m","x":NaN}`, Other, generic(404)},
		{"JSON with a long text", 404, js, `{"message":"` + strings.Repeat("é", 600) + `"}`, JSON, enveloped("not_found", strings.Repeat("é", 499)+"…", "")},
		{"JSON with control characters", 404, js, `{"message":"a\r\nb\u0000c\u202ed"}`, JSON, enveloped("not_found", "a b c d", "")},
		{"JSON with an unusable field", 400, js, `{"message":"m","field":"a\nb"}`, JSON, enveloped("bad_request", "m", "")},
		{"GBK", 404, "application/json; charset=GBK", gb("{\"message\":\"文章不存在\"}"), JSON, enveloped("not_found", "文章不存在", "")},
		{"GBK without saying so", 404, page, gb("<html><title>文章不存在</title>"), HTML, enveloped("not_found", "文章不存在", "")},
		{"an unknown charset", 404, "text/html; charset=ebcdic", "<html>", Other, generic(404)},
		{"Latin-1", 404, "text/plain; charset=iso-8859-1", "Caf\xe9 fermé", Text, enveloped("not_found", "Caf\u00e9 fermÃ©", "")},
		{"HTML title", 404, page, "<!DOCTYPE html><head><title>Page\n not &amp; found</title></head><h1>No</h1>", HTML, enveloped("not_found", "Page not & found", "")},
		{"HTML heading", 403, page, "<html><script>document.title='<title>x</title>'</script><h1>For<b>bid</b>den</h1>", HTML, enveloped("forbidden", "Forbidden", "")},
		{"HTML without either", 404, page, "<html><p>secret</p>", HTML, generic(404)},
		{"HTML with a long title", 404, page, "<title>" + long + "</title>", HTML, enveloped("not_found", long[:199]+"…", "")},
		{"plain text", 404, plain, "no such thing\nmore\n", Text, enveloped("not_found", "no such thing", "")},
		{"plain text in brackets", 404, plain, "[E42] no such thing", Text, enveloped("not_found", "[E42] no such thing", "")},
		{"long plain text", 404, plain, long, Text, enveloped("not_found", long[:199]+"…", "")},
		{"XML", 404, "application/xml", "<error>x</error>", Other, generic(404)},
		{"an image", 404, "image/png", "\x89PNG", Other, generic(404)},
		{"nothing", 404, plain, "", Empty, generic(404)},
		{"white space", 404, plain, " \n", Empty, generic(404)},
		{"5xx JSON", 500, js, `{"message":"table users is gone","field":"x"}`, JSON, generic(500)},
		{"5xx HTML", 502, page, "<title>db-3 down</title>", HTML, generic(502)},
		{"5xx text", 503, plain, "maintenance on db-3", Text, generic(503)},
		{"teapot", 418, js, `{"message":"short and stout"}`, JSON, enveloped("bad_request", "short and stout", "")},
		{"499", 499, plain, "", Empty, enveloped("bad_request", Lookup(400).Message, "")},
		{"600", 600, plain, "x", Text, enveloped("upstream_error", Lookup(500).Message, "")},
		{"one more than our shape has", 404, js, `{"error":{"code":"gone_fishing","message":"m"},"trace":"at a.b(C.java:1)"}`, Shaped, enveloped("gone_fishing", "m", "")},
		{"our shape in 5xx with more", 500, js, `{"error":{"code":"db","message":"db-3 down"},"debug":"x"}`, Shaped, enveloped("db", Lookup(500).Message, "")},
		{"our shape behind a BOM", 404, js, "\xef\xbb\xbf{\"error\":{\"code\":\"c\",\"message\":\"m\",\"field\":\"f\"}}", Shaped, enveloped("c", "m", "f")},
		{"our shape with another kind of code", 404, js, `{"error":{"code":"Not Found!","message":"m"}}`, JSON, enveloped("not_found", "m", "")},
		{"our shape without a message", 404, js, `{"error":{"code":"c","message":""}}`, JSON, generic(404)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var status int
			var kind Kind
			conf := &Config{Observe: func(s int, k Kind) { status, kind = s, k }}
			rec := through(t, conf, "GET", answer(c.status, map[string]string{
				"Content-Type": c.media, "Etag": `"x"`, "Content-Length": strconv.Itoa(len(c.body)), "Retry-After": "7",
			}, c.body))
			if got := rec.Body.String(); got != c.want || rec.Code != c.status {
				t.Fatalf("%d %s\nwant %d %s", rec.Code, got, c.status, c.want)
			}
			if kind != c.kind || status != c.status || !slices.Contains(Kinds, kind) {
				t.Errorf("observed %d %s, want %s", status, kind, c.kind)
			}
			h := rec.Header()
			if h.Get("Content-Type") != "application/json" || h.Get("Etag") != "" || h.Get("Cache-Control") != "no-store" ||
				h.Get("Retry-After") != "7" || h.Get("Content-Length") != strconv.Itoa(len(c.want)) {
				t.Errorf("header %v", h)
			}
		})
	}
}

func gb(s string) string {
	out, err := simplifiedchinese.GBK.NewEncoder().String(s)
	if err != nil {
		panic(err)
	}
	return out
}

func TestErrorsInOurShapeArePassedByteForByte(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
	}{
		{400, `{ "error": {"message":"m", "code":"invalid_parameter", "field":"título"} }` + "\n"},
		{404, `{"error":{"code":"c","message":"m"}}`},
		{422, `{"error":{"code":"c","message":"m","field":null,"details":[12345678901234567890]}}`},
		{503, `{"error":{"code":"unavailable","message":"back at noon","field":null}}`},
	} {
		h := map[string]string{"Content-Type": "application/json; charset=utf-8", "Etag": `"e"`, "Content-Length": strconv.Itoa(len(c.body))}
		rec := through(t, &Config{}, "GET", answer(c.status, h, c.body))
		if rec.Body.String() != c.body || rec.Code != c.status || rec.Header().Get("Etag") != `"e"` {
			t.Errorf("%d %q %v", rec.Code, rec.Body, rec.Header())
		}
		packed := squeeze(t, "gzip", c.body)
		h["Content-Encoding"] = "gzip"
		delete(h, "Content-Length")
		if rec = through(t, &Config{}, "GET", answer(c.status, h, packed)); rec.Body.String() != packed || rec.Header().Get("Content-Encoding") != "gzip" {
			t.Errorf("compressed: %q", rec.Body)
		}
		delete(h, "Content-Encoding")
		rec = through(t, &Config{ProblemJSON: true}, "GET", answer(c.status, h, c.body), "application/problem+json")
		if rec.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("a client that prefers problem+json got %q", rec.Body)
		}
	}
}

func squeeze(t *testing.T, coding, s string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "zstd":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCompressedErrorsAreRead(t *testing.T) {
	for _, coding := range []string{"gzip", "deflate", "zstd"} {
		h := map[string]string{"Content-Type": "application/json", "Content-Encoding": coding}
		rec := through(t, &Config{}, "GET", answer(404, h, squeeze(t, coding, `{"message":"m"}`)))
		if rec.Body.String() != enveloped("not_found", "m", "") || rec.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: %s %v", coding, rec.Body, rec.Header())
		}
		bomb := squeeze(t, coding, `{"message":"`+strings.Repeat("a", 4<<20)+`"}`)
		if rec = through(t, &Config{}, "GET", answer(404, h, bomb)); rec.Body.String() != enveloped("not_found", Lookup(404).Message, "") {
			t.Errorf("%s bomb of %d bytes: %s", coding, len(bomb), rec.Body)
		}
		if rec = through(t, &Config{}, "GET", answer(404, h, "not compressed")); rec.Body.String() != enveloped("not_found", Lookup(404).Message, "") {
			t.Errorf("%s, not compressed at all: %s", coding, rec.Body)
		}
	}
	for _, coding := range []string{"br", "gzip, gzip", "x"} {
		rec := through(t, &Config{}, "GET", answer(404, map[string]string{"Content-Encoding": coding}, "????"))
		if rec.Body.String() != enveloped("not_found", Lookup(404).Message, "") || rec.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: %s", coding, rec.Body)
		}
	}
}

func TestADecompressedBombIsHeldToTheLimit(t *testing.T) {
	for _, coding := range []string{"gzip", "deflate", "zstd"} {
		plain, cut, ok := decompress([]string{coding}, []byte(squeeze(t, coding, strings.Repeat("a", 4<<20))))
		if coding == "zstd" && !ok {
			continue // the frame says its size, and that is refused
		}
		if len(plain) != maxBody || !cut || !ok {
			t.Errorf("%s: %d bytes, %v, %v", coding, len(plain), cut, ok)
		}
	}
}

func TestAnOversizedErrorIsAnsweredAtTheLimit(t *testing.T) {
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

func TestExactlyTheLimitIsStillRead(t *testing.T) {
	body := `{"message":"m"}`
	body += strings.Repeat(" ", maxBody-len(body))
	if rec := through(t, &Config{}, "GET", answer(404, nil, body)); rec.Body.String() != enveloped("not_found", "m", "") {
		t.Fatal(rec.Body)
	}
	if rec := through(t, &Config{}, "GET", answer(404, nil, body+" ")); rec.Body.String() != enveloped("not_found", Lookup(404).Message, "") {
		t.Fatal(rec.Body)
	}
}

func TestOneByteChunksAndFlushesMakeNoDifference(t *testing.T) {
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

func TestAHEADGetsTheHeaderOnly(t *testing.T) {
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

func TestAProtocolAnswerIsLeftUntouched(t *testing.T) {
	body := `{"error":"invalid_grant"}`
	rec := through(t, &Config{UpstreamAuth: true}, "POST", func(w http.ResponseWriter, r *http.Request) {
		w.(*Writer).Untouched()
		answer(401, map[string]string{"Etag": `"e"`}, body)(w, r)
	})
	if rec.Code != 401 || rec.Body.String() != body || rec.Header().Get("Etag") == "" {
		t.Fatal(rec.Code, rec.Body)
	}
}

func TestAnUpstreamThatRefusesTheGatewayIsABadGateway(t *testing.T) {
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

func TestExposePassesTextsOf5xx(t *testing.T) {
	rec := through(t, &Config{Expose: true}, "GET", answer(500, nil, `{"message":"quota table is locked"}`))
	if rec.Body.String() != enveloped("upstream_error", "quota table is locked", "") {
		t.Fatal(rec.Body)
	}
}

func TestFailReplacesWhatIsHeldAndNothingElse(t *testing.T) {
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

func TestAnUpstreamThatDiesInMidBodyAbortsTheConnection(t *testing.T) {
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

func TestInformationalAnswersPassAndDecideNothing(t *testing.T) {
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

func TestAnUpgradePassesWithHijackAndDeadlines(t *testing.T) {
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

func TestABodyIsAlwaysAnEnvelope(t *testing.T) {
	rec := through(t, &Config{}, "GET", answer(400, nil, "<>&\u2028\xff"))
	if !json.Valid(rec.Body.Bytes()) {
		t.Fatal(rec.Body)
	}
}
