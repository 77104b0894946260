package job

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestFetchDownloadsAFile(t *testing.T) {
	port := files(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "identity" || r.Header.Get("Authorization") != "" || r.Method != http.MethodGet {
			t.Error(r.Method, r.Header)
		}
		w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
		_, _ = w.Write([]byte("a,b\n"))
	})
	n := &names{answer: map[string][][]string{"example.com": {{"127.0.0.1"}}}}
	body, f, code := take(t, fetching(t, n), "https://example.com:"+port+"/dir/list.csv?x=1#y")
	if code != "" || body != "a,b\n" || f.Length != 4 || f.Name != "list.csv" || f.Type != "text/csv; charset=utf-8" || *f.Progress() != 99 {
		t.Errorf("%q %+v %s", body, f, code)
	}
}

func TestConnectedAddressIsChecked(t *testing.T) {
	var reached atomic.Int32
	port := files(t, func(w http.ResponseWriter, _ *http.Request) { reached.Add(1) })
	only := func(f *Fetch) { f.Allow = nil }
	for name, c := range map[string]struct {
		answers [][]string
		host    string
		check   bool // refused before the 202
		code    Code
	}{
		"a name of loopback":             {[][]string{{"127.0.0.1"}}, "example.com", true, FileForbidden},
		"a name of a private address":    {[][]string{{"10.0.0.1"}}, "example.com", true, FileForbidden},
		"a name of the metadata address": {[][]string{{"169.254.169.254"}}, "example.com", true, FileForbidden},
		"a name with two forbidden ones": {[][]string{{"127.0.0.1", "192.168.0.1"}}, "example.com", true, FileForbidden},
		"a name that changes its mind":   {[][]string{{"93.184.215.14"}, {"127.0.0.1"}}, "example.com", false, FileForbidden},
		"a name of nothing":              {nil, "nothing.example", false, FileUnreachable},
	} {
		n := &names{answer: map[string][][]string{"example.com": c.answers}}
		f := fetching(t, n, only)
		address := "https://" + c.host + ":" + port + "/"
		if _, refused := f.checkURL(t.Context(), address); (refused != nil) != c.check || refused != nil && (refused.Field != "file_url" || refused.Status != 400) {
			t.Errorf("%s: %v", name, refused)
		}
		if _, _, code := take(t, f, address); code != string(c.code) {
			t.Errorf("%s: %s, want %s", name, code, c.code)
		}
	}
	if reached.Load() != 0 {
		t.Errorf("%d connections went where none may", reached.Load())
	}
}

func TestForbiddenAddressOfANameIsNotContacted(t *testing.T) {
	var reached atomic.Int32
	port := files(t, func(w http.ResponseWriter, _ *http.Request) { reached.Add(1) })
	// 127.0.0.2 is the same server's port without a listener, and may be asked.
	n := &names{answer: map[string][][]string{"example.com": {{"127.0.0.2", "127.0.0.1"}}}}
	f := fetching(t, n, func(f *Fetch) { f.Allow = []string{"127.0.0.2"} })
	if _, refused := f.checkURL(t.Context(), "https://example.com:"+port+"/"); refused != nil {
		t.Error(refused)
	}
	if _, _, code := take(t, f, "https://example.com:"+port+"/"); code != string(FileUnreachable) && code != string(FileForbidden) || reached.Load() != 0 {
		t.Errorf("%s, %d came", code, reached.Load())
	}
}

func TestRedirectsToAllowedAddressesAreFollowed(t *testing.T) {
	var port string
	port = files(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" {
			t.Error("the address before, which may be signed, is told:", r.Header)
		}
		to := map[string]string{
			"/one":      "/file",
			"/two":      "/one",
			"/three":    "/two",
			"/four":     "/three",
			"/loop":     "/loop",
			"/loopback": "https://127.0.0.2:" + port + "/file",
			"/chain":    "/loopback",
			"/meta":     "https://169.254.169.254/latest/meta-data/",
			"/six":      "https://[::1]:" + port + "/file",
			"/decimal":  "https://2130706434:" + port + "/file",
			"/name":     "https://evil.example.com:" + port + "/file",
			"/plain":    "http://127.0.0.1:" + port + "/file",
			"/file-url": "file:///etc/passwd",
			"/user":     "https://a:b@127.0.0.1:" + port + "/file",
		}[r.URL.Path]
		if to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("whole"))
	})
	n := &names{answer: map[string][][]string{"evil.example.com": {{"127.0.0.2"}}}}
	f := fetching(t, n)
	for path, want := range map[string]Code{
		"/file": "", "/one": "", "/two": "", "/three": "", "/four": FileRedirects, "/loop": FileRedirects,
		"/loopback": FileForbidden, "/chain": FileForbidden, "/meta": FileForbidden, "/six": FileForbidden,
		"/decimal": FileForbidden, "/name": FileForbidden, "/plain": FileRedirects, "/file-url": FileRedirects, "/user": FileRedirects,
	} {
		body, _, code := take(t, f, "https://127.0.0.1:"+port+path)
		if code != string(want) || (want == "") != (body == "whole") {
			t.Errorf("%s: %q %s, want %s", path, body, code, want)
		}
	}
	if _, _, code := take(t, fetching(t, n, func(f *Fetch) { f.Redirects = -1 }), "https://127.0.0.1:"+port+"/one"); code != string(FileRedirects) {
		t.Error(code)
	}
}

func TestTruncatedFileIsRefused(t *testing.T) {
	port := files(t, func(w http.ResponseWriter, r *http.Request) {
		hijack := func(text string) {
			c, buffer, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = buffer.WriteString(text)
			_ = buffer.Flush()
			_ = c.Close()
		}
		switch r.URL.Path {
		case "/large":
			w.Header().Set("Content-Length", fmt.Sprint(2<<20))
			_, _ = w.Write(make([]byte, 2<<20))
		case "/larger": // and does not say so
			_, _ = w.Write(make([]byte, 2<<20))
		case "/exact":
			_, _ = w.Write(make([]byte, 1<<20))
		case "/short":
			hijack("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		case "/chunk":
			hijack("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")
		case "/endless": // no length: where it ends nobody can tell
			hijack("HTTP/1.0 200 OK\r\n\r\nhalf")
		case "/two-lengths":
			hijack("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nhalf")
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write([]byte("text"))
			_ = z.Close()
		case "/missing":
			http.NotFound(w, r)
		case "/part":
			w.WriteHeader(http.StatusPartialContent)
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		case "/headers":
			w.Header().Set("X-Large", strings.Repeat("x", 200<<10))
		case "/empty":
		}
	})
	f := fetching(t, nil)
	for path, want := range map[string]Code{
		"/large": FileTooLarge, "/larger": FileTooLarge, "/exact": "", "/short": FileIncomplete, "/chunk": FileIncomplete, "/endless": FileIncomplete,
		"/two-lengths": FileUnreachable, "/gzip": FileEncoded, "/missing": FileRefused, "/part": FileRefused, "/none": FileRefused,
		"/headers": FileUnreachable, "/empty": "",
	} {
		if _, _, code := take(t, f, "https://127.0.0.1:"+port+path); code != string(want) {
			t.Errorf("%s: %s, want %s", path, code, want)
		}
	}
}

func TestSlowFileServerTimesOut(t *testing.T) {
	end := make(chan struct{})
	port := files(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/header" {
			<-end
			return
		}
		for {
			if _, err := w.Write([]byte("x")); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			select {
			case <-time.After(20 * time.Millisecond):
			case <-end:
				return
			}
		}
	})
	defer close(end)
	f := fetching(t, nil, func(f *Fetch) { f.Timeout = 300 * time.Millisecond })
	for _, path := range []string{"/header", "/drop"} {
		begun := time.Now()
		if _, _, code := take(t, f, "https://127.0.0.1:"+port+path); code != string(FileTimeout) || time.Since(begun) > 5*time.Second {
			t.Errorf("%s: %s after %v", path, code, time.Since(begun))
		}
	}
}

func TestSlowUpstreamIsNotTheFileServersFault(t *testing.T) {
	port := files(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(make([]byte, 64<<10)) })
	f := fetching(t, nil, func(f *Fetch) { f.Timeout = 500 * time.Millisecond })
	got, failure := f.openFile(t.Context(), "https://127.0.0.1:"+port+"/")
	if failure != nil {
		t.Fatal(failure)
	}
	defer got.Close()
	n := 0
	for b := make([]byte, 8<<10); ; time.Sleep(100 * time.Millisecond) {
		m, err := got.Read(b)
		if n += m; err != nil {
			break
		}
	}
	if n != 64<<10 || got.Failure() != nil {
		t.Errorf("%d bytes, %+v", n, got.Failure())
	}
}

func TestFetchEndsWithItsJob(t *testing.T) {
	gone := make(chan struct{})
	port := files(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancel(t.Context())
	got, failure := fetching(t, nil).openFile(ctx, "https://127.0.0.1:"+port+"/")
	if failure != nil {
		t.Fatal(failure)
	}
	cancel()
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Error("the file's server is still asked")
	}
	got.Close()
}

func TestTruncatedFileFailsTheJobDespiteUpstreamSuccess(t *testing.T) {
	port := files(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half"))
	})
	s := newShelf()
	w := newWork(func(_ context.Context, t Task) *Failure {
		_, _ = io.Copy(io.Discard, t.Upload.Body)
		_, _ = t.Answer.Write([]byte(`{"ok":true}`))
		return nil
	})
	q := node(t, s, w, "a", func(c *QueueConfig) { c.Fetch = &Fetch{Allow: []string{"127.0.0.1"}} })
	q.Start()
	defer q.Stop()
	j, refused, err := q.Submit(t.Context(), Request{Owner: owner, Body: []byte(`{"file_url":"https://127.0.0.1:` + port + `/"}`)})
	if refused != nil || err != nil {
		t.Fatal(refused, err)
	}
	got := q.Wait(t.Context(), j, 10*time.Second)
	if got.State != Failed || got.Failure.Code != string(FileIncomplete) {
		t.Errorf("%+v", got)
	}
}
