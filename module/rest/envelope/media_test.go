package envelope

import (
	"mime"
	"net/http"
	"testing"
)

// The short way must tell what the parser of the standard library tells.
func FuzzMediaType(f *testing.F) {
	for _, value := range []string{
		"", "application/json", "application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON", "text/html ; charset=x",
		`text/html; charset="gbk"`, "text/html; charset=gbk; q=1", "text/html; Charset=GBK", "text/html;  charset=x", "text/html; charset=x ", "text/html;",
		"json", "a/b/c", "/json", "text/", "text/html; charset*=utf-8''x", "text/html; charset=", "text/html; charset", "application/problem+json; charset=utf-8",
		"text/html; charset=a=b", "TEXT/html; charset=x", "text/html;charset=x;charset=y", "text/html\t;charset=x", "text/h\u00e9ml",
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		media, charset := MediaType(http.Header{"Content-Type": {value}})
		want, params, _ := mime.ParseMediaType(value)
		if media != want || charset != params["charset"] {
			t.Errorf("%q: %q %q, want %q %q", value, media, charset, want, params["charset"])
		}
	})
}
