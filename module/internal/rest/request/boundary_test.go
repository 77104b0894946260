package request_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/request"
)

func TestFormsThatDifferOnlyInTheirBoundaryAreTheSame(t *testing.T) {
	const field = "Content-Disposition: form-data; name=\"a\"\r\n\r\n"
	form := func(boundary string, contents ...string) string {
		var b strings.Builder
		for _, content := range contents {
			b.WriteString("--" + boundary + "\r\n" + field + content + "\r\n")
		}
		return b.String() + "--" + boundary + "--\r\n"
	}
	content := func(boundary, body string) []byte {
		return request.WithoutBoundary(http.Header{"Content-Type": {"multipart/form-data; boundary=" + boundary}}, []byte(body))
	}
	first := content("first", form("first", "1", "2"))
	if again := content("----WebKitFormBoundaryAbC", form("----WebKitFormBoundaryAbC", "1", "2")); !bytes.Equal(first, again) {
		t.Error("the same form with another boundary is another")
	}
	for name, other := range map[string][]byte{
		"another content":                   content("second", form("second", "1", "3")),
		"a content at another place":        content("second", form("second", "12", "")),
		"one part":                          content("second", form("second", "1\r\n--first\r\n"+field+"2")),
		"a boundary in a line":              content("second", form("second", "1\r\n --second\r\n"+field+"2")),
		"another name":                      content("second", strings.Replace(form("second", "1", "2"), `"a"`, `"b"`, 1)),
		"something behind the end":          content("second", form("second", "1", "2")+"x"),
		"the boundary of another":           content("second", form("first", "1", "2")),
		"no valid boundary":                 content("fir@st", form("fir@st", "1", "2")),
		"nothing":                           content("second", ""),
		"parts that are no form":            request.WithoutBoundary(http.Header{"Content-Type": {"multipart/mixed; boundary=first"}}, []byte(form("first", "1", "2"))),
		"two types, of which APIs read one": request.WithoutBoundary(http.Header{"Content-Type": {"multipart/form-data; boundary=first", "multipart/form-data; boundary=x"}}, []byte(form("first", "1", "2"))),
	} {
		if bytes.Equal(first, other) {
			t.Errorf("%s is the same form", name)
		}
	}
	if text := []byte(form("first", "1")); !bytes.Equal(request.WithoutBoundary(http.Header{"Content-Type": {"text/plain"}}, text), text) {
		t.Error("a text is changed")
	}
}
