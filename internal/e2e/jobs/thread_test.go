package jobs

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/examples/legacy/api"
	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func copyTo(w io.Writer, r io.Reader) (int64, error) { return io.Copy(w, r) }

func TestFileIsImportedByAnAPIWithoutJobs(t *testing.T) {
	legacy := httptest.NewServer(api.New(api.Options{Import: -1}))
	defer legacy.Close()
	r := &rig{Gateway: harness.Prepare(t, "$UPSTREAM", strings.TrimPrefix(legacy.URL, "http://")), t: t, tokens: make(map[string]string)}
	r.Start(t, with(imports, "result /imported"))
	p := r.do("one", http.MethodPost, "/import-jobs", fetching(files(t, lines)+"/articles.csv"))
	made := read(t, p, 202)
	at := p.Header.Get("Location")
	if at != "/jobs/"+made.ID || p.Header.Get("Retry-After") == "" || p.Header.Get("Cache-Control") != "no-store" || made.State != "queued" || made.Created == nil {
		t.Fatalf("%v %s", p.Header, p.Body)
	}
	s := r.await("one", at, "succeeded")
	if string(s.Result) != "2" || s.Progress == nil || *s.Progress != 100 || s.Started == nil || s.Finished == nil || s.Error != nil {
		t.Errorf("%+v", s)
	}
	if p := r.do("two", http.MethodGet, at, ""); p.Status != 404 {
		t.Errorf("another client: %d %s", p.Status, p.Body)
	}
	if p := r.do("one", http.MethodHead, at, ""); p.Status != 200 || p.Body != "" || p.Header.Get("Retry-After") != "" {
		t.Errorf("%d %v", p.Status, p.Header)
	}
	if p := r.do("one", http.MethodDelete, at, ""); p.Status != 409 {
		t.Errorf("a job that has finished is not cancelled: %d", p.Status)
	}
}
