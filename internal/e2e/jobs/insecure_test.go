package jobs

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// S06: files are fetched by http from named ranges, and from nowhere else.
func TestHTTPFilesAreFetchedFromListedRangesOnly(t *testing.T) {
	r := start(t, strings.Replace(imports, "allow 127.0.0.1/32", "insecure 127.0.0.1/32", 1))
	plain := func(at string, serve http.HandlerFunc) string {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		s := &httptest.Server{Listener: l, Config: &http.Server{Handler: serve}} //nolint:gosec // a test's
		s.Start()
		t.Cleanup(s.Close)
		return s.URL
	}
	var reached atomic.Int32
	elsewhere := plain("127.0.0.2:0", func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	here := plain("127.0.0.1:0", func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/away" {
			http.Redirect(w, q, elsewhere, http.StatusFound)
			return
		}
		lines(w, q)
	})
	r.await("one", r.submit("one", here+"/articles.csv"), "succeeded")
	r.await("one", r.submit("one", files(t, lines)+"/articles.csv"), "succeeded")
	if came := r.upstream.arrivals(); len(came) != 2 || came[0].length != 33 {
		t.Errorf("S06 %+v", came)
	}
	if s := r.await("one", r.submit("one", here+"/away"), "failed"); s.Error == nil || s.Error.Code != "file_forbidden" {
		t.Errorf("S06 a redirect: %+v", s.Error)
	}
	for _, address := range []string{elsewhere, "http://10.0.0.1/", "http://169.254.169.254/", "http://2130706433/", "http://93.184.215.14/"} {
		wantCode(t, r.do("one", http.MethodPost, "/import-jobs", fetching(address)), 400, "invalid_parameter", "file_url")
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("S06 %d requests went where none may", n)
	}
}
