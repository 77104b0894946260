package envelope

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// oldAPI has failures with the status of success.
func oldAPI() *Config {
	return &Config{
		From: []From{{Kind: JSON, Code: "/code", Message: "/message", Field: "/field"}},
		FailWhen: []FailWhen{
			{Pointer: "/code", Op: "==", Values: []string{"404", "E_GONE"}, Status: 404},
			{Pointer: "/success", Op: "==", Values: []string{"false", "0"}, Status: 422},
		},
	}
}

func prepared(t testing.TB, c *Config) *Config {
	t.Helper()
	if err := c.Prepare(); err != nil {
		t.Fatal(err)
	}
	return c
}

// sliced is an upstream that sends its body in pieces of n bytes, with flushes.
func sliced(n, status int, header map[string]string, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		buffer := make([]byte, min(n, len(body))) // used again, as a proxy does
		for rest := body; rest != ""; {
			part := buffer[:copy(buffer, rest)]
			rest = rest[len(part):]
			if k, err := w.Write(part); err != nil || k != len(part) {
				return
			}
			clear(part)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

const refused = `{"success":false,"message":"The title is too short","field":"title"}`

func TestFailureWithASuccessStatusIsAnError(t *testing.T) {
	want := enveloped("validation_failed", "The title is too short", "title")
	unread := enveloped("validation_failed", Lookup(422).Message, "")
	for _, c := range []struct {
		name, media, coding, body, want string
	}{
		{"JSON", "application/json", "", refused, want},
		{"with white space in front", "application/json; charset=utf-8", "", " \r\n\n" + refused + "\n", want},
		{"with the condition last", "application/json", "", `{"message":"The title is too short","field":"title","success":"0"}`, want},
		{"labelled HTML", "text/html; charset=utf-8", "", refused, want},
		{"labelled as plain text", "text/plain", "", refused, want},
		{"labelled as a script", "text/javascript; charset=utf-8", "", refused, want},
		{"labelled as an old script", "application/x-javascript", "", refused, want},
		{"without a label", "", "", refused, want},
		{"behind a BOM", "application/json", "", "\xef\xbb\xbf" + refused, want},
		{"behind a notice", "text/html", "", "<br />\n<b>Notice</b>:  Undefined index: {aid} in a.html on line 7<br />\n" + refused, want},
		{"behind a notice without tags", "application/json", "", "Warning: x[0]\n" + refused, want},
		{"behind a notice in brackets", "application/json", "", "[12-Jan] {notice}\n" + refused, want},
		{"behind a notice of many braces", "text/html", "", "Undefined index: {{{{{{{\n" + refused, want},
		{"in GBK", "application/json; charset=gbk", "", gb(`{"message":"标题太短嘰","success":false}`), enveloped("validation_failed", "标题太短嘰", "")},
		{"in GBK without saying so", "application/json", "", gb(`{"message":"标题太短嘰","success":false}`), enveloped("validation_failed", "标题太短嘰", "")},
		{"in GBK labelled UTF-8 behind a notice", "text/html; charset=utf-8", "", gb(`注意 {"message":"标题太短","success":false}`), enveloped("validation_failed", "标题太短", "")},
		{"in GBK with a backslash in a character", "application/json", "", gb(`{"message":"嘰","success":false}`), enveloped("validation_failed", "嘰", "")},
		{"in GBK where nothing names it", "application/json", "", gb(`{"message":"标题太短","success":false}`), unread},
		{"the same with a backslash in a character", "application/json", "", gb(`{"message":"嘰","success":false}`), unread},
		{"the same behind a notice", "text/html", "", gb(`注意 {"message":"嘰","success":false}`), unread},
		{"in Latin-1 where nothing names it", "application/json", "", "{\"message\":\"\xe9\\\"M\xfcller\",\"success\":false}", unread},
		{"gzip", "application/json", "gzip", squeeze(t, "gzip", refused), want},
		{"deflate", "text/html", "deflate", squeeze(t, "deflate", refused), want},
		{"zstd", "application/json", "zstd", squeeze(t, "zstd", refused), want},
		{"zstd, as it is streamed", "application/json", "zstd", streamed(t, refused), want},
		{"gzip and GBK", "application/json; charset=GB2312", "gzip", squeeze(t, "gzip", gb(`{"success":0,"message":"标题"}`)), enveloped("validation_failed", "标题", "")},
		{"identity", "application/json", "identity", refused, want},
		{"the first rule that holds decides, wherever its member stands", "application/json", "", `{"success":false,"message":"m","code":404}`, enveloped("not_found", "m", "")},
		{"a code for people, and no message", "application/json", "", `{"success":false,"code":"E_TITLE"}`, enveloped("validation_failed", "the content of the request is not valid (E_TITLE)", "")},
		{"a code for programs", "application/json", "", `{"success":false,"code":"title_taken","message":"m"}`, enveloped("title_taken", "m", "")},
		{"a message that tells too much", "application/json", "", `{"success":false,"message":"SQLSTATE[42S02]"}`, enveloped("validation_failed", Lookup(422).Message, "")},
		{"something behind it", "application/json", "", refused + "<!-- 0.01 s -->", want},
	} {
		for _, size := range []int{1 << 20, 1, 2, 3, 7} {
			api := oldAPI()
			if !strings.Contains(c.name, "nothing names it") && !strings.Contains(c.name, "the same") {
				api.Charset = gb18030(t)
			}
			rec := through(t, prepared(t, api), "GET", sliced(size, 200, map[string]string{
				"Content-Type": c.media, "Content-Encoding": c.coding, "Etag": `"e"`, "Location": "/x", "Cache-Control": "max-age=60",
			}, c.body))
			wantStatus := 422
			if strings.Contains(c.want, "not_found") {
				wantStatus = 404
			}
			h := rec.Header()
			if rec.Code != wantStatus || rec.Body.String() != c.want || h.Get("Content-Type") != "application/json" || h.Get("Etag")+h.Get("Location")+h.Get("Content-Encoding") != "" || h.Get("Cache-Control") != "no-store" {
				t.Errorf("%s, in pieces of %d: %d %s %v", c.name, size, rec.Code, rec.Body, h)
			}
		}
	}
}

func TestSuccessIsUnchangedByFailWhen(t *testing.T) {
	js := "application/json"
	for _, c := range []struct {
		name   string
		status int
		header map[string]string
		body   string
	}{
		{"a success", 200, map[string]string{"Content-Type": js}, ` {"success":true, "id":12345678901234567890,"code":0}`},
		{"created", 201, map[string]string{"Content-Type": js, "Location": "/x"}, `{"success":true}`},
		{"no such members", 200, map[string]string{"Content-Type": js}, `{"x":{"success":false}}`},
		{"not the values", 200, map[string]string{"Content-Type": js}, `{"success":"no","code":[404]}`},
		{"a list", 200, map[string]string{"Content-Type": js}, `[1,2]`},
		{"a scalar", 200, map[string]string{"Content-Type": js}, `false`},
		{"a success in GBK", 200, map[string]string{"Content-Type": js}, gb(`{"success":true,"title":"标题許"}`)},
		{"a success behind a notice", 200, map[string]string{"Content-Type": "text/html"}, "<b>Notice</b> {x}\n{\"success\":true}"},
		{"no body", 200, map[string]string{"Content-Type": js}, ""},
		{"white space", 200, map[string]string{"Content-Type": js}, " \n"},
		{"half a BOM", 200, map[string]string{"Content-Type": js}, "\xef\xbb"},
		{"a failure that is not whole", 200, map[string]string{"Content-Type": js}, `{"x":[`},
		{"no JSON at all", 200, map[string]string{"Content-Type": js}, `{"x":NaN}`},
		{"text", 200, map[string]string{"Content-Type": "text/plain"}, `ok`},
		{"a page", 200, map[string]string{"Content-Type": "text/html"}, "<!DOCTYPE html><script>var x = " + refused + "</script>"},
		{"a page that does not say so", 200, map[string]string{"Content-Type": "text/html"}, "<p>" + refused + "</p>"},
		{"a page in pieces", 200, map[string]string{"Content-Type": "text/html"}, "<html>" + refused},
		{"a part", 206, map[string]string{"Content-Type": js, "Content-Range": "bytes 0-67/68"}, refused},
		{"an event stream", 200, map[string]string{"Content-Type": "text/event-stream"}, refused},
		{"NDJSON", 200, map[string]string{"Content-Type": "application/x-ndjson"}, refused + "\n" + refused},
		{"an attachment", 200, map[string]string{"Content-Type": js, "Content-Disposition": `Attachment; filename="a.json"`}, refused},
		{"another type", 200, map[string]string{"Content-Type": "application/octet-stream"}, refused},
		{"a coding nobody knows", 200, map[string]string{"Content-Type": js, "Content-Encoding": "br"}, refused},
		{"what is not compressed at all", 200, map[string]string{"Content-Type": js, "Content-Encoding": "gzip"}, refused},
		{"a redirect", 302, map[string]string{"Content-Type": js, "Location": "/x"}, refused},
		{"not modified", 304, map[string]string{"Etag": `"e"`}, ""},
		{"no content", 204, nil, ""},
		{"reset content", 205, map[string]string{"Content-Type": js}, ""},
	} {
		for _, size := range []int{1 << 20, 1, 3} {
			h := map[string]string{"X-Other": "x", "Cache-Control": "max-age=60"}
			for k, v := range c.header {
				h[k] = v
			}
			rec := through(t, prepared(t, oldAPI()), "GET", sliced(size, c.status, h, c.body))
			if rec.Code != c.status || rec.Body.String() != c.body || len(rec.Header()) != len(h) {
				t.Errorf("%s, in pieces of %d: %d %q %v", c.name, size, rec.Code, rec.Body, rec.Header())
			}
		}
	}
}

func TestFailWhenIgnoresHEAD(t *testing.T) {
	rec := through(t, prepared(t, oldAPI()), "HEAD", answer(200, map[string]string{"Content-Type": "application/json", "Content-Length": "68"}, ""))
	if rec.Code != 200 || rec.Header().Get("Content-Length") != "68" {
		t.Error(rec.Code, rec.Header())
	}
}

func TestInformationalAnswersPassBeforeAFailure(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shaped := NewWriter(w, r, prepared(t, oldAPI()))
		shaped.Header().Set("Link", "</a.css>; rel=preload")
		shaped.WriteHeader(103)
		shaped.Header().Del("Link")
		_, _ = io.WriteString(shaped, refused) // without a status of its own
		shaped.Finish()
	}))
	defer server.Close()
	resp, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 422 || !strings.Contains(string(body), "too short") {
		t.Error(resp.StatusCode, string(body), err)
	}
}

func TestFailWhenIgnoresProtocolAnswers(t *testing.T) {
	rec := through(t, prepared(t, oldAPI()), "GET", func(w http.ResponseWriter, _ *http.Request) {
		w.(*Writer).Untouched()
		_, _ = io.WriteString(w, refused)
	})
	if rec.Code != 200 || rec.Body.String() != refused {
		t.Error(rec.Code, rec.Body)
	}
}

func TestErrorReplacesABufferedAnswer(t *testing.T) {
	rec := httptest.NewRecorder()
	w := NewWriter(rec, httptest.NewRequest("GET", "/", nil), prepared(t, oldAPI()))
	_, _ = io.WriteString(w, `{"x":1,`)
	if w.Committed() || !w.Fail(504, Error{}) || rec.Code != 504 || rec.Body.String() != enveloped("upstream_timeout", Lookup(504).Message, "") {
		t.Error(rec.Code, rec.Body)
	}
}

func TestUncheckedAnswersHeaderPassesAtOnce(t *testing.T) {
	for _, c := range []struct {
		method, name, value string
		status              int
		held                bool
	}{
		{"GET", "Content-Type", "application/json", 200, true},
		{"POST", "Content-Type", "text/html; charset=gbk", 201, true},
		{"GET", "Content-Encoding", "gzip", 200, true},
		{"HEAD", "Content-Type", "application/json", 200, false},
		{"CONNECT", "Content-Type", "application/json", 200, false},
		{"GET", "Content-Type", "application/json", 206, false},
		{"GET", "Content-Type", "application/json", 204, false},
		{"GET", "Content-Type", "application/json", 302, false},
		{"GET", "Content-Type", "text/event-stream", 200, false},
		{"GET", "Content-Type", "application/x-ndjson", 200, false},
		{"GET", "Content-Disposition", "attachment", 200, false},
		{"GET", "Content-Encoding", "br", 200, false},
		{"GET", "Content-Encoding", "gzip, gzip", 200, false},
	} {
		w := NewWriter(httptest.NewRecorder(), httptest.NewRequest(c.method, "http://x.example/", nil), prepared(t, oldAPI()))
		w.Header().Set(c.name, c.value)
		if w.WriteHeader(c.status); w.Committed() == c.held {
			t.Errorf("%s %d %s %s: held %v", c.method, c.status, c.name, c.value, !w.Committed())
		}
	}
}

// streamed is compressed by zstd as a server does that does not know the length: its
// window is the one of its level, 8 MiB here.
func streamed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithWindowSize(8<<20))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{text[:1], text[1:]} {
		if _, err := io.WriteString(z, part); err != nil {
			t.Fatal(err)
		}
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
