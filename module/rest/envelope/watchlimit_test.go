package envelope

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// list is a body whose condition stands behind a list of about n bytes.
func list(n int, tail string) string {
	return `{"list":[0` + strings.Repeat(`,{"aid":12345678901234567890,"subject":"x"}`, n/43) + `]` + tail + `}`
}

func TestLongSuccessPassesOnceTheLimitIsReached(t *testing.T) {
	body := list(256<<10, `,"success":true`)
	for _, size := range []int{1 << 20, 32 << 10, 999} {
		rec := httptest.NewRecorder()
		w := NewWriter(rec, httptest.NewRequest("GET", "/", nil), prepared(t, oldAPI()))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(200)
		for at := 0; at < len(body); at += size {
			if _, err := io.WriteString(w, body[at:min(len(body), at+size)]); err != nil {
				t.Fatal(err)
			}
			if sent := min(len(body), at+size); (sent > maxBody) != (rec.Body.Len() > 0) || rec.Body.Len() > 0 && rec.Body.Len() != sent {
				t.Fatalf("of %d bytes %d are passed on", sent, rec.Body.Len())
			}
			if w.watch != nil && cap(w.watch.raw) > 3*maxBody {
				t.Fatal(cap(w.watch.raw))
			}
		}
		w.Finish()
		if rec.Body.String() != body || rec.Code != 200 {
			t.Errorf("in pieces of %d: %d, %d bytes", size, rec.Code, rec.Body.Len())
		}
	}
}

func TestShortSuccessPassesAsSoonAsItIsKnown(t *testing.T) {
	rec := httptest.NewRecorder()
	w := NewWriter(rec, httptest.NewRequest("GET", "/", nil), prepared(t, oldAPI()))
	for _, part := range []string{"\xef", "\xbb\xbf", " ", `{"success":true,`, `"code":0`, `,`} {
		if rec.Body.Len() > 0 {
			t.Fatal(rec.Body)
		}
		_, _ = io.WriteString(w, part)
	}
	if rec.Body.String() != "\xef\xbb\xbf "+`{"success":true,"code":0,` {
		t.Error(rec.Body)
	}
}

// received is what a client gets from a server whose upstream answers through a Writer.
func received(t *testing.T, c *Config, upstream http.HandlerFunc) (status int, body string, err error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shaped := NewWriter(w, r, c)
		upstream(shaped, r)
		shaped.Finish()
	}))
	server.Config.ErrorLog = nil
	defer server.Close()
	resp, err := http.Get(server.URL)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(all), err
}

func TestLateFailureAbortsTheConnection(t *testing.T) {
	var seen []string
	c := oldAPI()
	c.Observe = func(status int, kind Kind) { seen = append(seen, strconv.Itoa(status)+string(kind)) }
	prepared(t, c)
	body := list(256<<10, `,"success":false`)
	for _, size := range []int{1 << 20, 32 << 10, 999} {
		seen = nil
		status, got, err := received(t, c, sliced(size, 200, map[string]string{"Content-Type": "application/json"}, body))
		if err == nil || strings.Contains(got, "success") || status != 200 && status != 0 {
			t.Errorf("in pieces of %d: %d, %d bytes, %v", size, status, len(got), err)
		}
		if len(seen) != 1 || seen[0] != "422json" {
			t.Error(seen)
		}
	}
	missing := prepared(t, &Config{FailWhen: []FailWhen{{Pointer: "/success", Op: "missing", Status: 502}}})
	if _, got, err := received(t, missing, sliced(32<<10, 200, nil, list(256<<10, ""))); err == nil {
		t.Errorf("an answer that lacks a member ends neatly after %d bytes", len(got))
	}
	rec := httptest.NewRecorder()
	w := NewWriter(rec, httptest.NewRequest("GET", "/", nil), c)
	_, err := io.WriteString(w, body)
	if _, again := io.WriteString(w, "x"); !errors.Is(err, ErrLate) || !errors.Is(again, ErrLate) || w.Fail(500, Error{}) {
		t.Error(err, again)
	}
	if _, err := w.ReadFrom(strings.NewReader("x")); !errors.Is(err, ErrLate) || strings.Contains(rec.Body.String(), "success") {
		t.Error(err)
	}
}

func TestLongFailureBodyIsAnsweredAtTheLimit(t *testing.T) {
	body := `{"message":"m","success":false,"list":[` + strings.Repeat(`0,`, 256<<10) + `0]}`
	for _, size := range []int{1 << 20, 32 << 10, 999} {
		rec := through(t, prepared(t, oldAPI()), "GET", sliced(size, 200, map[string]string{"Content-Type": "application/json"}, body))
		if rec.Code != 422 || rec.Body.String() != enveloped("validation_failed", "m", "") {
			t.Errorf("in pieces of %d: %d %.100s", size, rec.Code, rec.Body)
		}
	}
}

// TestUpstreamDyingMidBodyIsNotAnsweredFor: neither by passing on what came nor
// by an end of our own.
func TestUpstreamDyingMidBodyIsNotAnsweredFor(t *testing.T) {
	for _, body := range []string{`{"list":[1,`, `{"success":false,`, list(256<<10, "")[:200<<10]} {
		_, got, err := received(t, prepared(t, oldAPI()), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
			panic(http.ErrAbortHandler) // as a reverse proxy does
		})
		if err == nil || strings.Contains(got, "error") {
			t.Errorf("%.20s: %.40q %v", body, got, err)
		}
	}
}

// TestNonJSONIsHeldToTheLimit: a page, a notice that never ends, bombs.
func TestNonJSONIsHeldToTheLimit(t *testing.T) {
	zeros := strings.Repeat("0", 16<<20)
	for _, c := range []struct{ media, coding, body string }{
		{"text/html", "", strings.Repeat("<p>x", 64<<10)},
		{"text/html", "", "<p>" + strings.Repeat("{", 256<<10)},
		{"application/json", "", strings.Repeat("x", 256<<10)},
		{"application/json", "", strings.Repeat(" ", 256<<10) + refused},
		{"application/json", "", strings.Repeat("[", 256<<10)},
		{"application/json", "gzip", squeeze(t, "gzip", `{"x":"`+zeros+`","success":false}`)},
		{"application/json", "zstd", squeeze(t, "zstd", `{"x":"`+zeros+`","success":false}`)},
	} {
		for _, size := range []int{1 << 20, 4096} {
			rec := through(t, prepared(t, oldAPI()), "GET", sliced(size, 200, map[string]string{"Content-Type": c.media, "Content-Encoding": c.coding}, c.body))
			if rec.Code != 200 || rec.Body.String() != c.body {
				t.Errorf("%s %s %.20q: %d, %d of %d bytes", c.media, c.coding, c.body, rec.Code, rec.Body.Len(), len(c.body))
			}
		}
	}
}

func TestFailureAfterNoticeAndLimitIsFound(t *testing.T) {
	body := "<b>Notice</b> {x}\n" + list(100<<10, `,"success":false`)
	if _, got, err := received(t, prepared(t, oldAPI()), sliced(9999, 200, map[string]string{"Content-Type": "text/html"}, body)); err == nil || strings.Contains(got, "success") {
		t.Error(len(got), err)
	}
}

// TestTrailersStayTrailers of an answer that was held back as a whole, and are not sent
// with an error in its place.
func TestTrailersStayTrailers(t *testing.T) {
	c := prepared(t, oldAPI())
	for _, body := range []string{`{"success":1,"x":1}`, `{"x":1}`, refused, list(256<<10, `,"success":true`)} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			shaped := NewWriter(w, r, c)
			shaped.Header().Set("Content-Type", "application/json")
			shaped.Header().Set("Trailer", "x-sum, X-Other")
			_, _ = io.WriteString(shaped, body)
			_ = shaped.FlushError()
			shaped.Header().Set("X-Sum", "7")
			shaped.Header().Set(http.TrailerPrefix+"X-More", "8")
			shaped.Finish()
		}))
		resp, err := http.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		server.Close()
		sum, more := "7", "8"
		if body == refused {
			sum, more = "", ""
		}
		if err != nil || resp.Header.Get("X-Sum")+resp.Header.Get("X-More") != "" || resp.Trailer.Get("X-Sum") != sum || resp.Trailer.Get("X-More") != more || (string(got) == body) != (sum != "") {
			t.Errorf("%.20s: %d %v %v %v", body, resp.StatusCode, resp.Header, resp.Trailer, err)
		}
	}
}

// TestLongGBKAnswerIsDecodedAsGBK: the second byte of a character may be a backslash, and
// would make what follows a part of the string.
func TestLongGBKAnswerIsDecodedAsGBK(t *testing.T) {
	for _, media := range []string{"application/json; charset=gbk", "application/json"} {
		body := `{"m":"` + gb("嘰") + `",` + list(100<<10, `,"n":"`+gb("嘰")+`","success":false`)[1:]
		api := oldAPI()
		api.Charset = gb18030(t)
		if _, got, err := received(t, prepared(t, api), sliced(999, 200, map[string]string{"Content-Type": media}, body)); err == nil || strings.Contains(got, "success") {
			t.Errorf("%s: %d bytes, %v", media, len(got), err)
		}
	}
}
