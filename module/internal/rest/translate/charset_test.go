package translate

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

func in(t testing.TB, name, text string) string {
	t.Helper()
	c, err := charset.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := c.Encode(text)
	if !ok {
		t.Fatalf("%q has no form in %s", text, name)
	}
	return s
}

func TestTextIsDecodedAsLabelledOrConfiguredElseRefused(t *testing.T) {
	const (
		thing = `{"r":{"n":1,"t":"%"}}`
		list  = `{"r":{"list":[{"n":1,"t":"%"}],"total":1}}`
		page  = `{"data":[{"id":1,"title":"%","links":[{"rel":"self","method":"GET","href":"/things/1"}]}],"pagination":{"total":1,"page":1,"limit":20,"total_pages":1}}`
		item  = `{"id":1,"title":"%","links":[{"rel":"self","method":"GET","href":"/things/1"}]}`
		plain = "application/json"
	)
	for _, c := range []struct {
		name, media, in, named, text string
		kind                         Kind // "": it is decoded
	}{
		{"Latin-1 without a label", plain, "latin1", "", "Müller", Charset},
		{"Latin-1 that is configured", plain, "latin1", "iso-8859-1", "Müller", ""},
		{"Latin-1 in HTML that is configured", "text/html", "latin1", "iso-8859-1", "Müller", ""},
		{"Latin-1 labelled UTF-8", plain + "; charset=utf-8", "latin1", "", "Müller", Charset},
		{"Latin-1 labelled UTF-8, and configured", plain + "; charset=utf-8", "latin1", "latin1", "Müller", ""},
		{"UTF-8 where Latin-1 is configured", plain, "utf-8", "latin1", "Müller", ""},
		{"GBK without a label", plain, "gbk", "", "文章嘰", Charset},
		{"GBK that is configured", plain, "gbk", "gb18030", "文章嘰", ""},
		{"Shift_JIS that is labelled", plain + "; charset=Shift_JIS", "shift_jis", "", "日本語ソ", ""},
		{"UTF-16 that is labelled", plain + "; charset=utf-16le", "utf-16le", "", "Müller", ""},
		{"a kind of JSON", "application/hal+json; charset=windows-1251", "windows-1251", "", "Привет", ""},
	} {
		for _, l := range []struct{ target, body, want string }{{"/things/1", thing, item}, {"/things", list, page}} {
			for _, chunk := range []int{0, 1, 7} {
				r := things
				r.Charset = c.named
				body := in(t, c.in, strings.Replace(l.body, "%", c.text, 1))
				g := through(Config{Answer: answerTo(t, r, "GET", l.target)}, 200, map[string]string{"Content-Type": c.media}, body, chunk)
				switch {
				case c.kind != "":
					if g.failure == nil || g.failure.Kind != c.kind || g.w.Committed() {
						t.Errorf("%s by %d: %v %q", c.name, chunk, g.failure, g.Body)
					}
				case g.failure != nil || g.Body.String() != strings.Replace(l.want, "%", c.text, 1) || g.Header().Get("Content-Type") != plain:
					t.Errorf("%s by %d: %v %q %v", c.name, chunk, g.failure, g.Body, g.Header())
				}
			}
		}
	}
}

// A wrong byte behind what was sent ends the connection: it is never passed on.
func TestInvalidByteInALongListAbortsIt(t *testing.T) {
	const element = `{"n":1,"t":"x"},`
	for _, c := range []struct {
		named, wrong string
		kind         Kind
	}{{"", "\xff", Charset}, {"", "M\xfcller", Charset}, {"latin1", "M\xfcller", ""}, {"gb18030", "\xff", Charset}} {
		r := many
		r.Charset = c.named
		body := `{"r":{"list":[` + strings.Repeat(element, 20_000) + `{"n":2,"t":"` + c.wrong + `"}]}}`
		g := through(Config{Answer: answerTo(t, r, "GET", "/things?limit=100000")}, 200, map[string]string{"Content-Type": "application/json"}, body, 999)
		if c.kind == "" && (g.failure != nil || !strings.Contains(g.Body.String(), "Müller")) || c.kind != "" && (g.failure == nil || g.failure.Kind != c.kind || !g.w.Committed()) {
			t.Errorf("%q in %q: %v", c.wrong, c.named, g.failure)
		}
	}
}

// Where nothing but the charset is declared, answers are decoded, and what is no JSON passes.
func TestCharsetAloneDecodesJSONOnly(t *testing.T) {
	r := resource.Resource{Path: "things", Charset: "latin1"}
	for _, c := range []struct {
		method, target, media, body string
		status                      int
		want                        string
	}{
		{"GET", "/things/1", "application/json", "{\"t\":\"M\xfcller\"}", 200, `{"t":"Müller"}`},
		{"GET", "/things/1", "text/html", "<p>M\xfcller", 200, "<p>M\xfcller"},
		{"GET", "/things/1", "image/png", "\x89PNG", 200, "\x89PNG"},
		{"GET", "/things", "application/json", "[{\"t\":\"M\xfcller\"}]", 200, `{"data":[{"t":"Müller"}],"pagination":{"total":null,"page":1,"limit":1,"total_pages":null}}`},
		{"POST", "/things", "application/json", "{\"id\":1,\"t\":\"M\xfcller\"}", 201, `{"id":1,"t":"Müller"}`},
		{"POST", "/things", "text/plain", "OK", 201, "OK"},
		{"POST", "/things", "application/json", "", 201, ""},
		{"POST", "/things", "text/html", "<p>sign in", 200, "<p>sign in"},
		{"DELETE", "/things/1", "application/json", "{\"t\":\"M\xfcller\"}", 204, ""},
	} {
		for _, chunk := range []int{0, 1} {
			g := through(Config{Answer: answerTo(t, r, c.method, c.target)}, 200, map[string]string{"Content-Type": c.media}, c.body, chunk)
			if g.failure != nil || g.Code != c.status || g.Body.String() != c.want {
				t.Errorf("%s %s %s: %v %d %q", c.method, c.target, c.media, g.failure, g.Code, g.Body)
			}
		}
	}
}

// R02: JSON with something behind it is no page, and does not pass for one.
func TestJSONWithTrailingDataIsNeverPassedUntranslated(t *testing.T) {
	for _, c := range []struct {
		r                   resource.Resource
		target, media, body string
		kind                Kind
	}{
		{plainThings, "/things", "application/json", `[{"id":1}] // 3 ms`, Syntax},
		{plainThings, "/things", "text/html", `[{"id":1}]<!-- 3 ms -->`, Syntax},
		{plainThings, "/things", "application/json", `{"items":[{"id":1}],"total":1} // 3 ms`, Syntax},
		{plainThings, "/things", "text/html", `{"items":[{"id":1}],"total":1}<!-- 3 ms -->`, Syntax},
		{passing, "/things/1", "text/html", `{"r":{"n":1}}<!-- 3 ms -->`, Syntax},
		{passing, "/things/1", "text/html", `{"r":{"n":1}}`, ""},
		{things, "/things/1", "text/html", `{"r":{"n":1}}<!-- 3 ms -->`, Syntax},
	} {
		for _, chunk := range []int{0, 1} {
			g := through(Config{Answer: answerTo(t, c.r, "GET", c.target)}, 200, map[string]string{"Content-Type": c.media}, c.body, chunk)
			if c.kind == "" && (g.failure != nil || !strings.HasPrefix(g.Body.String(), `{"id":1,`)) || c.kind != "" && (g.failure == nil || g.failure.Kind != c.kind || g.w.Committed()) {
				t.Errorf("%s as %s: %v %q", c.body, c.media, g.failure, g.Body)
			}
		}
	}
}

func TestDecodedListIsNotBuffered(t *testing.T) {
	r := many
	r.Charset = "latin1"
	w := New(httptest.NewRecorder(), Config{Answer: answerTo(t, r, http.MethodGet, "/things?limit=100000")})
	defer w.Release()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(200)
	text := []byte(`{"r":{"list":[{"n":1,"t":"` + "M\xfcller" + `"}`)
	for range 10_000 {
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		text = []byte(`,{"n":1,"t":"` + "M\xfcller" + `"}`)
	}
	if !w.Committed() || len(w.body.held) > 0 {
		t.Errorf("%d bytes are held", len(w.body.held))
	}
}

// many is a list of any length.
var many = func() resource.Resource {
	r := things
	list := *things.List
	list.Max = 100_000
	r.List = &list
	return r
}()
