package request_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/request"
)

// Whether an access_token is in a form can be told only in a charset with the letters of ASCII.
func TestFormNamesNoCharsetInWhichNamesAreOthers(t *testing.T) {
	const part = "--B\r\nContent-Disposition: form-data; name=\"_charset_\"\r\n\r\n%\r\n--B--\r\n"
	for _, c := range []struct {
		media, body string
		status      int // 0: accepted
	}{
		{"application/x-www-form-urlencoded", "_charset_=IBM037&a=1", 400},
		{"application/x-www-form-urlencoded", "a=1&%5Fcharset_=utf-16", 400},
		{"application/x-www-form-urlencoded", "_charset_=&a=1", 400},
		{"application/x-www-form-urlencoded", "_charset_=windows-1252&a=1", 0},
		{"application/x-www-form-urlencoded", "charset=IBM037&_charset=IBM037", 0},
		{"multipart/form-data; boundary=B", strings.Replace(part, "%", "utf-7", 1), 400},
		{"multipart/form-data; boundary=B", strings.Replace(part, "%", "UTF-8", 1), 0},
		{"multipart/mixed; boundary=B", strings.Replace(part, "%", "IBM037", 1), 400},
		{"text/plain", "_charset_=IBM037", 0},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.media)
		status := 0
		if _, refused := request.ReadBody(r, 1<<20); refused != nil {
			status = refused.Status
		}
		if status != c.status {
			t.Errorf("%s %s: %d, want %d", c.media, c.body, status, c.status)
		}
	}
}
