package openapi

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

func newServer(t *testing.T) (*Server, func(method, prefix, path string, header ...string) *httptest.ResponseRecorder) {
	t.Helper()
	table, err := routes.New([]resource.Resource{{Path: "articles"}})
	if err != nil {
		t.Fatal(err)
	}
	s := new(Server)
	return s, func(method, prefix, path string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		if err := s.Serve(w, r, path, Config{Title: "Library", Server: prefix, Table: table}); err != nil {
			t.Errorf("%s %s: %v", method, path, err)
		}
		return w
	}
}

func TestDescriptionIsBuiltOnce(t *testing.T) {
	p, ask := newServer(t)
	first := ask("GET", "", "/openapi.json")
	made := p.kept[variant{}]
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			ask("GET", "", "/openapi.json")
			ask("GET", "", "/openapi")
		})
	}
	wait.Wait()
	if made == nil || len(p.kept) != 1 || p.kept[variant{}] != made || !bytes.Equal(made.document.body, first.Body.Bytes()) {
		t.Errorf("%d are kept, %v", len(p.kept), made)
	}
}

func TestCachedDescriptionsAreLimited(t *testing.T) {
	p, ask := newServer(t)
	ask("GET", "", "/openapi.json")
	first := p.kept[variant{}]
	for i := range 10 * maxKept {
		prefix := fmt.Sprintf("/p%d", i)
		if w := ask("GET", prefix, "/openapi.json"); !strings.Contains(w.Body.String(), `"url":"`+prefix+`"`) {
			t.Fatalf("%s: %.200s", prefix, w.Body)
		}
		if want := min(i+2, maxKept); len(p.kept) != want || p.kept[variant{}] != first {
			t.Fatalf("%d descriptions are kept of %d, want %d with the first", len(p.kept), i+2, want)
		}
	}
}

// slowGuard keeps a description from being generated until it is closed; it takes one question before.
type slowGuard chan struct{}

func (g slowGuard) Needs(string, string) (scopes []string, public, denied bool) {
	<-g
	return nil, true, false
}

func TestKeptDescriptionIsServedWhileAnotherIsGenerated(t *testing.T) {
	p, ask := newServer(t)
	ask("GET", "", "/openapi.json")
	table, err := routes.New([]resource.Resource{{Path: "articles"}})
	if err != nil {
		t.Fatal(err)
	}
	guard, served := make(slowGuard), make(chan int)
	var both sync.WaitGroup
	both.Go(func() {
		_ = p.Serve(httptest.NewRecorder(), httptest.NewRequest("GET", "/openapi.json", nil), "/openapi.json",
			Config{Server: "/other", Table: table, Issuer: "https://id.example", Needs: guard})
	})
	guard <- struct{}{} // it is at it
	both.Go(func() { served <- ask("GET", "", "/openapi.json").Code })
	select {
	case status := <-served:
		if status != http.StatusOK {
			t.Error(status)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for the other")
		go func() { <-served }()
	}
	close(guard)
	both.Wait()
}

func TestUnchangedDescriptionIsNotModified(t *testing.T) {
	_, ask := newServer(t)
	seen := make(map[string]bool)
	for _, c := range []struct{ path, language string }{{"/openapi.json", ""}, {"/openapi", "en"}, {"/openapi", "zh"}} {
		asked := func(method string, header ...string) *httptest.ResponseRecorder {
			return ask(method, "", c.path, append(header, "Accept-Language", c.language)...)
		}
		whole := asked("GET")
		tag := whole.Header().Get("Etag")
		if seen[tag] || tag == "" || whole.Code != 200 || whole.Header().Get("Cache-Control") != "no-cache" || whole.Header().Get("Content-Length") != fmt.Sprint(whole.Body.Len()) {
			t.Errorf("%+v: %d %v", c, whole.Code, whole.Header())
		}
		seen[tag] = true
		head := asked("HEAD")
		if head.Code != 200 || head.Body.Len() != 0 || head.Header().Get("Content-Length") != whole.Header().Get("Content-Length") || head.Header().Get("Etag") != tag {
			t.Errorf("HEAD %+v: %d %v", c, head.Code, head.Header())
		}
		for held, want := range map[string]int{tag: 304, `"x", W/` + tag: 304, "*": 304, `"x"`: 200, "nonsense": 200} {
			for _, method := range []string{"GET", "HEAD"} {
				w := asked(method, "If-None-Match", held)
				if w.Code != want || want == 304 && (w.Body.Len() != 0 || w.Header().Get("Content-Length") != "") || w.Header().Get("Etag") != tag || w.Header().Get("Cache-Control") != "no-cache" {
					t.Errorf("%s %+v with %s: %d %v", method, c, held, w.Code, w.Header())
				}
			}
		}
		if want := c.path == "/openapi"; (whole.Header().Get("Vary") == "Accept-Language") != want || (whole.Header().Get("Content-Security-Policy") != "") != want {
			t.Errorf("%+v: %v", c, whole.Header())
		}
	}
	w := httptest.NewRecorder()
	w.Header().Set("Vary", "Accept")
	(&response{header: http.Header{"Vary": {"Accept-Language"}}}).serve(w, httptest.NewRequest("GET", "/", nil))
	if got := w.Header().Values("Vary"); len(got) != 2 {
		t.Error("what was there before is gone:", got)
	}
}
