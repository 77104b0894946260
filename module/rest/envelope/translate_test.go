package envelope

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope/leak"
)

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
		{"GBK without saying so", 404, page, gb("<html><title>文章不存在</title>"), Other, generic(404)},
		{"a stray byte", 404, js, "{\"message\":\"M\xfcller\"}", Other, generic(404)},
		{"Shift_JIS", 404, "application/json; charset=Shift_JIS", "{\"message\":\"\x83\x5c\"}", JSON, enveloped("not_found", "ソ", "")},
		{"an unknown charset", 404, "text/html; charset=none", "<html><title>Müller</title>", HTML, enveloped("not_found", "Müller", "")},
		{"Latin-1", 404, "text/plain; charset=iso-8859-1", "Caf\xe9 fermé", Text, enveloped("not_found", "Caf\u00e9 fermÃ©", "")},
		{"HTML title", 404, page, "<!DOCTYPE html><head><title>Page\n not &amp; found</title></head><h1>No</h1>", HTML, enveloped("not_found", "Page not & found", "")},
		{"HTML heading", 403, page, "<html><script>document.title='<title>x</title>'</script><h1>For<b>bid</b>den</h1>", HTML, enveloped("forbidden", "Forbidden", "")},
		{"HTML without either", 404, page, "<html><p>secret</p>", HTML, generic(404)},
		{"HTML whose title is Error", 400, page, "<title>Error</title><pre>SyntaxError: Unexpected token</pre>", HTML, generic(400)},
		{"HTML whose title is Error, with a heading", 404, page, "<title>Error</title><h1>No such article</h1>", HTML, enveloped("not_found", "No such article", "")},
		{"HTML with a long title", 404, page, "<title>" + long + "</title>", HTML, enveloped("not_found", long[:199]+"…", "")},
		{"plain text", 404, plain, "no such thing\nmore\n", Text, enveloped("not_found", "no such thing", "")},
		{"plain text in brackets", 404, plain, "[E42] no such thing", Text, enveloped("not_found", "[E42] no such thing", "")},
		{"plain text in brackets, cut short", 404, plain, "[E42] no such thing" + strings.Repeat(" ", maxBody), Other, generic(404)},
		{"long plain text", 404, plain, long, Text, enveloped("not_found", long[:199]+"…", "")},
		{"XML", 404, "application/xml", "<error>x</error>", Other, generic(404)},
		{"an image", 404, "image/png", "\x89PNG", Other, generic(404)},
		{"nothing", 404, plain, "", Empty, generic(404)},
		{"white space", 404, plain, " \n", Empty, generic(404)},
		{"5xx JSON", 500, js, `{"message":"table users is gone","field":"x"}`, JSON, generic(500)},
		{"text cut in its first line", 404, plain, "no such thing" + strings.Repeat(" ", maxBody-20) + "key=s3cr3t", Text, generic(404)},
		{"text cut later", 404, plain, "no such thing\n" + strings.Repeat("x", maxBody), Text, enveloped("not_found", "no such thing", "")},
		{"HTML cut in its title", 404, page, "<title>no such thing" + strings.Repeat(" ", maxBody-30) + "key=s3cr3t</title>", HTML, generic(404)},
		{"HTML longer once it is decoded", 404, "text/html; charset=iso-8859-1", "<title>no such thing" + strings.Repeat("\xa0", maxBody/2-8) + "key=s3cr3t</title>", HTML, enveloped("not_found", "no such thing key=s3cr3t", "")},
		{"HTML cut in a title at its end", 404, page, "<!--" + strings.Repeat("x", maxBody-40) + "--><title>no such thing key=s3cr3t</title>", HTML, generic(404)},
		{"lines of a stack trace", 404, js, `{"message":"no such thing\n  at things.find"}`, JSON, generic(404)},
		{"a file behind much white space", 404, js, `{"message":"no such thing` + strings.Repeat(" ", leak.MaxSearched) + `/var/www/x"}`, JSON, generic(404)},
		{"5xx HTML", 502, page, "<title>db-3 down</title>", HTML, generic(502)},
		{"5xx text", 503, plain, "maintenance on db-3", Text, generic(503)},
		{"teapot", 418, js, `{"message":"short and stout"}`, JSON, enveloped("bad_request", "short and stout", "")},
		{"499", 499, plain, "", Empty, enveloped("bad_request", Lookup(400).Message, "")},
		{"600", 600, plain, "x", Text, enveloped("upstream_error", Lookup(500).Message, "")},
		{"one more than our shape has", 404, js, `{"error":{"code":"gone_fishing","message":"m"},"trace":"at a.b(C.java:1)"}`, Shaped, enveloped("gone_fishing", "m", "")},
		{"our shape, with a file behind what is searched", 404, js, `{"error":{"code":"c","message":"m"},"a":"` + strings.Repeat("x", leak.MaxSearched) + ` /var/www/x"}`, Shaped, enveloped("c", "m", "")},
		{"our shape in 5xx with more", 500, js, `{"error":{"code":"db","message":"db-3 down"},"debug":"x"}`, Shaped, enveloped("db", Lookup(500).Message, "")},
		{"our shape behind a BOM", 404, js, "\xef\xbb\xbf{\"error\":{\"code\":\"c\",\"message\":\"m\",\"field\":\"f\"}}", Shaped, enveloped("c", "m", "f")},
		{"our shape without the field", 404, js, `{"error":{"code":"c","message":"m"}}`, Shaped, enveloped("c", "m", "")},
		{"our shape without the field in 5xx", 500, js, `{"error":{"code":"db","message":"db-3 down"}}`, Shaped, enveloped("db", Lookup(500).Message, "")},
		{"our shape with details", 422, js, `{"error":{"code":"c","message":"m","field":null,"details":[7]}}`, Shaped, enveloped("c", "m", "")},
		{"our shape beside a resource", 409, js, `{"error":{"code":"c","message":"m","field":null},"data":{"secret":"s"}}`, Shaped, enveloped("c", "m", "")},
		{"our shape twice", 409, js, `{"error":{"code":"c","message":"m","field":null,"secret":"s"},"error":{"code":"c","message":"m","field":null}}`, Shaped, enveloped("c", "m", "")},
		{"our shape with a message twice", 500, js, `{"error":{"code":"c","message":"secret","message":"m","field":null}}`, Shaped, enveloped("c", Lookup(500).Message, "")},
		{"our shape with a field twice", 409, js, `{"error":{"code":"c","message":"m","field":{"secret":"s"},"field":null}}`, Shaped, enveloped("c", "m", "")},
		{"Payload", 400, js, `{"errors":[{"name":"ValidationError","data":[{"field":"title","message":"required"}],"message":"The following field is invalid: title"}]}`, JSON, enveloped("invalid_parameter", "The following field is invalid: title", "title")},
		{"the name of an exception", 400, js, `{"errors":[{"name":"GraphQLError","message":"m"}]}`, JSON, enveloped("bad_request", "m", "")},
		{"the name of a field", 400, js, `{"errors":[{"name":"title","message":"m"}]}`, JSON, enveloped("invalid_parameter", "m", "title")},
		{"the path, and a source", 400, js, `{"errors":[{"name":"title","source":{"pointer":"/data/title"},"message":"m"}]}`, JSON, enveloped("invalid_parameter", "m", "/data/title")},
		{"OData", 400, js, `{"error":{"code":"c","message":"m","target":"title","innererror":{"hint":"pw"}}}`, Shaped, enveloped("c", "m", "title")},
		{"Microsoft", 400, js, `{"error":{"code":"BadArgument","message":"m","target":"title"}}`, JSON, enveloped("invalid_parameter", "m", "title")},
		{"the first of several details", 400, js, `{"error":{"code":"BadArgument","message":"m","details":[{"code":"NullValue","target":"phone","message":"n"},{"target":"b","message":"o"}]}}`, JSON, enveloped("invalid_parameter", "m", "phone")},
		{"only details", 400, js, `{"error":{"code":"c","details":[{"target":"phone","message":"n"}]}}`, JSON, enveloped("invalid_parameter", "n", "phone")},
		{"details that are no errors", 400, js, `{"error":{"code":"c","message":"m","details":[{"existing":{"id":7}},7]}}`, Shaped, enveloped("c", "m", "")},
		{"details as an object", 400, js, `{"error":{"code":"c","message":"m","details":{"host":"db"}}}`, Shaped, enveloped("c", "m", "")},
		{"errors inside the error", 422, js, `{"error":{"code":"c","message":"m","errors":{"title":["too short"]}}}`, Shaped, enveloped("c", "m", "title")},
		{"Google", 400, js, `{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT","details":[{"@type":"x","reason":"r"}]}}`, JSON, enveloped("bad_request", "m", "")},
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

func gb18030(t testing.TB) *charset.Charset {
	t.Helper()
	c, err := charset.Find("gb18030")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestErrorsAreReadInTheConfiguredCharset(t *testing.T) {
	conf := &Config{Charset: gb18030(t)}
	for body, want := range map[string]string{
		gb("{\"message\":\"文章不存在\"}"): "文章不存在", "{\"message\":\"文章\"}": "文章", "{\"message\":\"\xff\"}": Lookup(404).Message,
	} {
		rec := through(t, conf, "GET", answer(404, map[string]string{"Content-Type": "application/json"}, body))
		if got := rec.Body.String(); got != enveloped("not_found", want, "") {
			t.Errorf("%q: %s", body, got)
		}
	}
}

func gb(s string) string {
	out, err := simplifiedchinese.GBK.NewEncoder().String(s)
	if err != nil {
		panic(err)
	}
	return out
}

func TestEnvelopeErrorsPassByteForByte(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
	}{
		{400, `{ "error": {"message":"m", "code":"invalid_parameter", "field":"título"} }` + "\n"},
		{404, `{"error":{"field":null,"code":"c","message":"m"}}`},
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

func TestCompressedErrorsAreDecoded(t *testing.T) {
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

func TestDecompressedSizeIsLimited(t *testing.T) {
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
