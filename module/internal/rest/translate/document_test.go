package translate

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

func TestCompleteDocumentIsRead(t *testing.T) {
	latin1, err := charset.Find("iso-8859-1")
	if err != nil {
		t.Fatal(err)
	}
	packed := func(text []byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(text)
		_ = z.Close()
		return b.Bytes()
	}
	const limit = 1000
	for _, c := range []struct {
		name, media, coding string
		body                []byte
		named               *charset.Charset
		want                string
		kind                Kind
	}{
		{"plain", "application/json", "", []byte(`{"a":1}`), nil, `{"a":1}`, ""},
		{"of a name of RPC", "application/json-rpc", "", []byte(`{"a":1}`), nil, `{"a":1}`, ""},
		{"labelled as a page, behind a notice", "text/html", "", []byte("<b>Notice</b> {\"a\":1}"), nil, `{"a":1}`, ""},
		{"behind a byte order mark", "application/json", "", []byte("\xef\xbb\xbf{}"), nil, `{}`, ""},
		{"compressed", "application/json", "gzip", packed([]byte(`{"a":1}`)), nil, `{"a":1}`, ""},
		{"Latin-1", "application/json", "", []byte("{\"a\":\"\xfc\"}"), latin1, `{"a":"ü"}`, ""},
		{"at the limit", "application/json", "gzip", packed(append(bytes.Repeat([]byte(" "), limit-2), "{}"...)), nil, `{}`, ""},
		{"beyond the limit", "application/json", "gzip", packed(append(bytes.Repeat([]byte(" "), limit-1), "{}"...)), nil, ``, Bomb},
		{"compressed in another way", "application/json", "br", []byte(`{}`), nil, ``, Coding},
		{"not compressed after all", "application/json", "gzip", []byte(`{"a":"not compressed"}`), nil, ``, Coding},
		{"Latin-1 that nobody knows of", "application/json", "", []byte("{\"a\":\"\xfc\"}"), nil, ``, Charset},
		{"a page", "text/html", "", []byte("<html>"), nil, ``, Syntax},
		{"a picture", "image/png", "", []byte(`{}`), nil, ``, Syntax},
		{"nothing", "application/json", "", nil, nil, ``, Syntax},
	} {
		h := http.Header{"Content-Type": {c.media}, "Content-Encoding": {c.coding}}
		got, f := Document(h, c.body, c.named, limit)
		switch {
		case c.kind == "" && (f != nil || string(got) != c.want):
			t.Errorf("%s: %s %v, want %s", c.name, got, f, c.want)
		case c.kind != "" && (f == nil || f.Kind != c.kind):
			t.Errorf("%s: %s %v, want %s", c.name, got, f, c.kind)
		}
	}
}

// A document in XML is translated when all of it has come. What is left of the result when nothing more is needed is no failure.
func TestSurplusOfADocumentInXMLIsNoFailure(t *testing.T) {
	r := resource.Resource{Path: "things", FromXML: &resource.FromXML{Root: "thing"}, Rename: map[string]string{"title": "subject"}}
	_, s := responsewriter.NewSurplus(t.Context())
	rec := responsewriter.NewRecorder(10)
	rec.Surplus = s
	w := New(rec, Config{Answer: answerTo(t, r, "GET", "/things/1")})
	w.Header().Set("Content-Type", "application/xml")
	_, err := io.WriteString(w, "<thing><subject>"+strings.Repeat("x", 700<<10)+"</subject></thing>")
	if f := w.Finish(); err != nil || f != nil || rec.Reply().Status != http.StatusOK || !rec.Reply().Cut || !s.Ended() {
		t.Errorf("%v, %v, %d", err, f, rec.Reply().Status)
	}
}
