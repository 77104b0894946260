package envelope

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

func TestEveryStatusHasItsTableCode(t *testing.T) {
	want := map[int]string{
		400: "bad_request", 401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "method_not_allowed", 406: "not_acceptable",
		409: "conflict", 410: "gone", 412: "precondition_failed", 413: "payload_too_large", 415: "unsupported_media_type",
		422: "validation_failed", 429: "rate_limited", 500: "upstream_error", 502: "upstream_unreachable", 503: "unavailable",
		504: "upstream_timeout",
	}
	if len(Codes) != len(want) {
		t.Errorf("%d codes, want %d", len(Codes), len(want))
	}
	for _, e := range Codes {
		if want[e.Status] != e.Code || e.Message == "" || !isCode(e.Code) || Lookup(e.Status) != e {
			t.Errorf("%+v, want %s", e, want[e.Status])
		}
	}
	for status := 400; status < 1000; status++ {
		class := "upstream_error"
		if status < 500 {
			class = "bad_request"
		}
		if w, ok := want[status]; ok {
			class = w
		}
		if got := Lookup(status).Code; got != class {
			t.Errorf("%d: %s, want %s", status, got, class)
		}
	}
}

func TestWriteKeepsTheRefusalsHeaders(t *testing.T) {
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	kept := []string{"Retry-After", "Www-Authenticate", "Allow", "X-Ratelimit-Limit", "Access-Control-Allow-Origin", "Vary"}
	for _, name := range append(kept, described...) {
		w.Header().Set(name, "old")
	}
	w.Header()["X-RateLimit-Reset"] = []string{"old"}
	Write(w, r, 400, Error{Field: "page"})
	if got, want := w.Body.String(), `{"error":{"code":"invalid_parameter","message":"the request is not valid","field":"page"}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, name := range append(kept, "Cache-Control") {
		if name != "Cache-Control" && w.Header().Get(name) != "old" {
			t.Error(name, "is lost")
		}
	}
	//lint:ignore SA1008 the limiter spells it so
	if len(w.Header()) != len(kept)+1+3 || w.Header()["X-RateLimit-Reset"] == nil {
		t.Errorf("header %v", w.Header())
	}
	if w.Header().Get("Content-Length") != strconv.Itoa(w.Body.Len()) {
		t.Error(w.Header())
	}
}

func TestProblemJSONIsSentWherePreferred(t *testing.T) {
	for _, c := range []struct {
		accept string
		want   bool
	}{
		{"", false},
		{"*/*", false},
		{"application/*", false},
		{"application/json", false},
		{"application/problem+json", true},
		{"APPLICATION/Problem+JSON; charset=utf-8", true},
		{"application/problem+json, */*;q=0.8", true},
		{"application/problem+json, */*", true},
		{"application/problem+json;q=0.2, */*", false},
		{"application/json, application/problem+json", false},
		{"application/problem+json, application/json;q=0.9", true},
		{"application/problem+json;q=0.5, application/json;q=0.6", false},
		{"application/problem+json;q=0", false},
		{"application/problem+json;q=x", false},
		{"application/problem+json;q=NaN", false},
		{"application/problem+json;q=7", false},
		{"text/html, application/problem+json;q=0.1", true},
	} {
		for _, on := range []bool{true, false} {
			w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Accept", c.accept)
			Config{ProblemJSON: on}.Write(w, r, 404, Error{Message: "no such article", Field: "id"})
			if got := w.Header().Get("Content-Type") == "application/problem+json"; got != (c.want && on) {
				t.Errorf("Accept %q, on %v: %v", c.accept, on, w.Header())
			}
		}
	}
}

func TestProblemJSONHasTheSameCodeAndField(t *testing.T) {
	for status, title := range map[int]string{404: "Not Found", 499: "Bad Request", 600: "Internal Server Error"} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", "application/problem+json")
		Config{ProblemJSON: true}.Write(w, r, status, Error{Code: "c", Message: "m"})
		var got map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		field, has := got["field"]
		if got["type"] != "about:blank" || got["title"] != title || got["status"] != float64(status) || got["detail"] != "m" || got["code"] != "c" || field != nil || !has {
			t.Errorf("%d: %v", status, got)
		}
	}
}

func BenchmarkSuccess(b *testing.B) {
	r := httptest.NewRequest("GET", "/", nil)
	c, body := &Config{}, []byte("body")
	var inner http.ResponseWriter = discard{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		w := NewWriter(inner, r, c)
		w.WriteHeader(200)
		_, _ = w.Write(body)
		w.Finish()
	}
}

type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) WriteHeader(int)             {}
func (d discard) Write(p []byte) (int, error) { return len(p), nil }

func TestSuccessCostsTheWrapperOnly(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	c, body := &Config{}, []byte("body")
	var inner http.ResponseWriter = discard{http.Header{}}
	least := 100.0
	// The count is the process's: what an earlier test left running is in it too, but not always.
	for i := 0; i < 5 && least > 2; i++ {
		least = min(least, testing.AllocsPerRun(100, func() {
			w := NewWriter(inner, r, c)
			w.WriteHeader(200)
			_, _ = w.Write(body)
			_ = w.FlushError()
			w.Finish()
		}))
	}
	if least > 2 { // one of them is FlushError's controller
		t.Errorf("%v allocations", least)
	}
}

// S03: messages are of one style, and make sense without the field beside them.
func TestMessagesFollowOneStyle(t *testing.T) {
	for _, e := range Codes {
		if m := e.Message; m == "" || m[0] < 'a' || m[0] > 'z' || strings.HasSuffix(m, ".") {
			t.Errorf("%d: %q", e.Status, m)
		}
	}
	for field, want := range map[string]string{"limit": "limit must be a number", "/3/op": "/3/op must be a number", "": "the request must be a number"} {
		if got := Invalid(field, "must be a number"); got.Message != want || got.Field != field {
			t.Errorf("%q: %+v", field, got)
		}
	}
}

// Errors are written without encoding/json, and are what it would write.
func TestErrorsMatchEncodingJSON(t *testing.T) {
	texts := []string{"", "plain", "ü", "文", "\xff", "a\u2028b\u2029", strings.Repeat("x", 300)}
	for c := range rune(256) {
		texts = append(texts, "a"+string(c)+"b", string([]byte{byte(c)}))
	}
	for _, text := range texts {
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		e := Error{Code: text, Message: text, Field: text}
		field := string(want)
		if text == "" {
			field = "null"
		}
		object := `{"code":` + string(want) + `,"message":` + string(want) + `,"field":` + field + `}`
		if got := string(e.json()); got != `{"error":`+object+`}` {
			t.Errorf("%q: %s", text, got)
		}
		if got, err := json.Marshal(e); err != nil || string(got) != object {
			t.Errorf("%q: %s, %v", text, got, err)
		}
		want = []byte(`{"type":"about:blank","title":"Conflict","status":409,"detail":` + string(want) + `,"code":` + string(want) + `,"field":` + field + `}`)
		if got := e.problem(http.StatusConflict); string(got) != string(want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	r := httptest.NewRequest("GET", "/", nil)
	e := Error{Code: "invalid_token", Message: "the access token is invalid, expired or revoked"}
	var w http.ResponseWriter = discard{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		Write(w, r, http.StatusUnauthorized, e)
	}
}
