package job

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/job/fileurl"
)

// plainFiles serves over http at an address.
func plainFiles(t *testing.T, at string, serve http.HandlerFunc) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: serve}} //nolint:gosec // a test's
	s.Start()
	t.Cleanup(s.Close)
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// http is spoken with the named ranges alone: what counts is the address of each connection.
func TestHTTPIsFetchedFromListedRangesOnly(t *testing.T) {
	var reached atomic.Int32
	elsewhere := plainFiles(t, "127.0.0.2:0", func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		_, _ = w.Write([]byte("secret"))
	})
	secure := files(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			http.Redirect(w, r, "http://127.0.0.2:"+elsewhere+"/", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("secure"))
	})
	here := plainFiles(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{
			"/elsewhere": "http://127.0.0.2:" + elsewhere + "/", "/name": "http://evil.example.com:" + elsewhere + "/", "/mapped": "http://[::ffff:127.0.0.2]:" + elsewhere + "/",
			"/decimal": "http://2130706434:" + elsewhere + "/", "/public": "http://93.184.215.14/", "/meta": "http://169.254.169.254/latest", "/up": "https://127.0.0.1:" + secure + "/",
			"/down": "https://127.0.0.1:" + secure + "/down", "/secure": "https://127.0.0.2:" + elsewhere + "/", "/file-url": "file:///etc/passwd", "/user": "http://a:b@127.0.0.1/", "/again": "/file",
		}[r.URL.Path]
		if to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("whole"))
	})
	n := &names{answer: map[string][][]string{
		"files.example.com": {{"127.0.0.1"}}, "evil.example.com": {{"127.0.0.2"}}, "changing.example.com": {{"127.0.0.1"}, {"127.0.0.2"}}, "both.example.com": {{"127.0.0.2", "127.0.0.1"}},
	}}
	f := fetching(t, n, func(f *Fetch) { f.Allow, f.Insecure = nil, []string{"127.0.0.1/32"} })
	at := "http://127.0.0.1:" + here
	for address, want := range map[string]Code{
		at + "/file": "", at + "/again": "", at + "/up": "", "http://files.example.com:" + here + "/file": "", "http://[::ffff:127.0.0.1]:" + here + "/file": "",
		"https://127.0.0.1:" + secure + "/": "", // what is permitted by http is by https too
		"http://127.0.0.2:" + elsewhere:     FileForbidden, "https://127.0.0.2:" + elsewhere: FileForbidden, "http://evil.example.com:" + elsewhere: FileForbidden,
		at + "/elsewhere": FileForbidden, at + "/name": FileForbidden, at + "/mapped": FileForbidden, at + "/decimal": FileForbidden, at + "/public": FileForbidden,
		at + "/meta": FileForbidden, at + "/down": FileForbidden, at + "/secure": FileForbidden, at + "/file-url": FileRedirects, at + "/user": FileRedirects,
		"http://93.184.215.14/": FileForbidden, "http://localhost:" + elsewhere + "/x": FileUnreachable,
	} {
		if _, _, code := take(t, f, address); code != string(want) {
			t.Errorf("%s: %q, want %q", address, code, want)
		}
	}
	// A name that means something else by the time of the connection.
	if forbidden, refused := f.checkURL(t.Context(), "http://changing.example.com:"+elsewhere+"/"); refused != nil || forbidden {
		t.Error(refused)
	}
	if _, _, code := take(t, f, "http://changing.example.com:"+elsewhere+"/"); code != string(FileForbidden) {
		t.Errorf("a name that changes its mind: %q", code)
	}
	if _, _, code := take(t, f, "http://both.example.com:"+elsewhere+"/"); code == "" {
		t.Error("a name with a forbidden address among others was fetched from there")
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests went where none may", n)
	}
	for _, address := range []string{"http://10.0.0.1/", "http://evil.example.com/", "http://169.254.169.254/"} {
		if forbidden, refused := f.checkURL(t.Context(), address); refused == nil || !forbidden {
			t.Errorf("%s is not refused before the 202: %v", address, refused)
		}
	}
	only := fileurl.New(nil, nil, nil)
	if _, err := only.Parse("http://127.0.0.1/"); !errors.Is(err, fileurl.ErrUnfit) {
		t.Errorf("http without a named range: %v", err)
	}
}
