package restapi

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

func deflated(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gbk(t *testing.T, text string) string {
	t.Helper()
	s, err := simplifiedchinese.GBK.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// encoded answers in a content coding that nobody asked for.
func encoded(coding, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", coding)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		says("application/json", body)(w, nil)
	}
}

// dripping writes a byte at a time, each in a chunk of its own.
func dripping(media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		for i := range len(body) {
			_, _ = io.WriteString(w, body[i:i+1])
			_ = http.NewResponseController(w).Flush()
		}
	}
}

const framedThings = `{"data":[%s],"pagination":{"total":%s,"page":1,"limit":20,"total_pages":%s}}`

func selfLink(path string) string {
	return `"links":[{"rel":"self","method":"GET","href":"` + path + `"}]`
}

func TestMalformedUpstreamJSONIsFixedOrRefused(t *testing.T) {
	const (
		one     = `{"r":{"id":1,"t":"文"}}`
		wantOne = `{"id":1,"t":"文","links":[{"rel":"self","method":"GET","href":"/things/1"}]}`
		notice  = "<br />\n<b>Notice</b>:  Undefined index: {x} in <b>/var/www/a.php</b> on line <b>64</b><br />\n"
	)
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, listed)
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		path   string
		want   string // "" where it is refused
	}{
		{"compressed though identity was asked", encoded("gzip", zipped(t, one)), "/things/1", wantOne},
		{"compressed, in the old name", encoded("x-gzip", zipped(t, one)), "/things/1", wantOne},
		{"deflated", encoded("deflate", deflated(t, one)), "/things/1", wantOne},
		{"compressed, and cut short", encoded("gzip", zipped(t, one)[:20]), "/things/1", ""},
		{"labelled compressed, and is not", encoded("gzip", one), "/things/1", ""},
		{"in a coding that nobody knows", encoded("rot13", one), "/things/1", ""},
		{"GBK, labelled", says("application/json; charset=gbk", gbk(t, one)), "/things/1", wantOne},
		{"GBK, unlabelled", says("application/json", gbk(t, one)), "/things/1", ""},
		{"GBK, labelled UTF-8", says("application/json; charset=utf-8", gbk(t, one)), "/things/1", ""},
		{"GBK, in HTML labelled UTF-8, one byte at a time", dripping("text/html; charset=UTF-8", gbk(t, one)), "/things/1", ""},
		{"UTF-8, labelled Latin-1", says("application/json; charset=iso-8859-1", one), "/things/1", wantOne},
		{"GBK, in HTML that says nothing of it", says("text/html", gbk(t, one)), "/things/1", ""},
		{"GBK with a brace within a character", says("application/json; charset=gbk", gbk(t, `{"r":{"id":1,"t":"亄{}"}}`)), "/things/1", strings.Replace(wantOne, "文", "亄{}", 1)},
		{"a byte order mark", says("application/json", "\xef\xbb\xbf"+one), "/things/1", wantOne},
		{"a byte order mark in front of GBK", says("application/json; charset=gbk", "\xef\xbb\xbf"+gbk(t, one)), "/things/1", wantOne},
		{"a notice in front", says("application/json", notice+one), "/things/1", wantOne},
		{"a notice in front, then a byte order mark, in HTML", says("text/html", notice+"\xef\xbb\xbf"+one), "/things/1", wantOne},
		{"labelled HTML", says("text/html; charset=iso-8859-1", `{"r":{"id":1,"t":"x"}}`), "/things/1", strings.Replace(wantOne, "文", "x", 1)},
		{"labelled plain text", says("text/plain", one), "/things/1", wantOne},
		{"labelled not at all", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, one)
		}, "/things/1", wantOne},
		{"large integers", says("application/json", `{"r":{"id":9223372036854775807,"b":18446744073709551615,"c":1.0,"d":1E400,"e":-0,"z":1,"a":2}}`), "/things/1",
			`{"id":9223372036854775807,"b":18446744073709551615,"c":1.0,"d":1E400,"e":-0,"z":1,"a":2,` + selfLink("/things/9223372036854775807") + `}`},
		{"escapes, white space and the order of members", says("application/json", `{ "r" : {"b": "\u0041\/\ud83d\ude00 \"",`+"\n"+`"id":"1", "a":[ ] } }`), "/things/1",
			`{"b": "\u0041\/\ud83d\ude00 \"",` + "\n" + `"id":"1", "a":[ ] ,` + selfLink("/things/1") + `}`},
		{"NaN", says("application/json", `{"r":{"id":NaN}}`), "/things/1", ""},
		{"Infinity", says("application/json", `{"r":{"id":1,"x":-Infinity}}`), "/things/1", ""},
		{"single quotes", says("application/json", `{'r':{'id':1}}`), "/things/1", ""},
		{"a comma at the end", says("application/json", `{"r":{"id":1,}}`), "/things/1", ""},
		{"two documents", says("application/json", one+one), "/things/1", ""},
		{"nothing", says("application/json", ""), "/things/1", ""},
		{"no resource", says("application/json", `{"s":{}}`), "/things/1", ""},
		{"too deep", says("application/json", `{"r":{"id":1,"x":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)+`}}`), "/things/1", ""},
		{"one byte at a time", dripping("application/json", "\xef\xbb\xbf"+one), "/things/1", wantOne},
		{"one byte at a time, in GBK behind a notice", dripping("text/html; charset=gbk", notice+gbk(t, one)), "/things/1", wantOne},
		{"a list one byte at a time", dripping("application/json", `{"list":[{"id":1},{"id":2}],"total":"2"}`), "/things",
			fmt.Sprintf(framedThings, `{"id":1,`+selfLink("/things/1")+`},{"id":2,`+selfLink("/things/2")+`}`, "2", "1")},
		{"items as a map", says("application/json", `{"list":{"0":{"id":5},"7":{"id":6}},"total":2}`), "/things",
			fmt.Sprintf(framedThings, `{"id":5,`+selfLink("/things/5")+`},{"id":6,`+selfLink("/things/6")+`}`, "2", "1")},
		{"an empty map", says("application/json", `{"list":{},"total":0}`), "/things", fmt.Sprintf(framedThings, "", "0", "0")},
		{"a list that is null", says("application/json", `{"list":null,"total":0}`), "/things", fmt.Sprintf(framedThings, "", "0", "0")},
		{"a list that is null with a total of null", says("application/json", `{"list":null,"total":null}`), "/things", fmt.Sprintf(framedThings, "", "null", "null")},
		{"a total in a string that is no number", says("application/json", `{"total":"4 1","list":[]}`), "/things", fmt.Sprintf(framedThings, "", "null", "null")},
		{"a total in a string of digits", says("application/json", `{"total":"41","list":[]}`), "/things", fmt.Sprintf(framedThings, "", "41", "3")},
		{"a total that is none", says("application/json", `{"total":-3.5,"list":[]}`), "/things", fmt.Sprintf(framedThings, "", "null", "null")},
		{"a list that is a word", says("application/json", `{"total":1,"list":"none"}`), "/things", ""},
		{"elements that are none", says("application/json", `{"total":3,"list":[1,null,"x"]}`), "/things", fmt.Sprintf(framedThings, `1,null,"x"`, "3", "1")},
		{"ids that need escaping", says("application/json", `{"list":[{"id":"a/b?c#d e%"},{"id":"..\u002f..\/x"},{"id":"文\u0022"}],"total":3}`), "/things",
			fmt.Sprintf(framedThings, `{"id":"a/b?c#d e%",`+selfLink("/things/a%2Fb%3Fc%23d%20e%25")+`},{"id":"..\u002f..\/x",`+`"links":[]},{"id":"文\u0022",`+selfLink("/things/%E6%96%87%22")+`}`, "3", "1")},
		{"ids that have no address", says("application/json", `{"list":[{"id":".."},{"id":""},{"id":null},{"id":{}},{"id":"a\u0000"},{}],"total":6}`), "/things",
			fmt.Sprintf(framedThings, `{"id":"..","links":[]},{"id":"","links":[]},{"id":null,"links":[]},{"id":{},"links":[]},{"id":"a\u0000","links":[]},{"links":[]}`, "6", "1")},
	} {
		t.Run(c.name, func(t *testing.T) {
			u.Answer(c.answer)
			p := r.do("reader", http.MethodGet, c.path, "")
			if c.want == "" {
				if p.Status == 200 {
					t.Fatalf("%.300s", p.Body)
				}
				wantError(t, p, 502, "upstream_error", "")
				return
			}
			if p.Status != 200 || p.Body != c.want || p.Header.Get("Content-Type") != "application/json" || p.Header.Get("Content-Encoding") != "" {
				t.Errorf("%d %v\n%.500s\nwant\n%s", p.Status, p.Header, p.Body, c.want)
			}
		})
	}
}

func TestGzipBombIsCutOff(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, listed)
	u.Answer(encoded("gzip", zipped(t, `{"r":{"id":1,"t":"`+strings.Repeat("x", 64<<20)+`"}}`)))
	res := r.open(t.Context(), "reader", http.MethodGet, "/things/1")
	if n, err := io.Copy(io.Discard, res.Body); err == nil || n > 16<<20 {
		t.Errorf("%d bytes, %v", n, err)
	}
}
