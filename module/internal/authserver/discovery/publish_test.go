package discovery

import (
	"net/http/httptest"
	"testing"
)

func TestMetadataSupportsConditionalGet(t *testing.T) {
	for _, test := range []struct {
		method, tag  string
		status, size int
	}{
		{"GET", "", 200, 2}, {"HEAD", "", 200, 0}, {"GET", `"b"`, 200, 2}, {"GET", `"b", W/"a"`, 304, 0}, {"GET", "*", 304, 0},
	} {
		r, w := httptest.NewRequest(test.method, "/", nil), httptest.NewRecorder()
		r.Header.Set("If-None-Match", test.tag)
		publish(w, r, document{[]byte("{}"), `"a"`})
		if w.Code != test.status || w.Body.Len() != test.size || w.Header().Get("ETag") != `"a"` || w.Header().Get("Cache-Control") != cacheControl {
			t.Errorf("%+v: %d %q %v", test, w.Code, w.Body, w.Header())
		}
	}
}
