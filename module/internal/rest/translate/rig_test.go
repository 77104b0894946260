package translate

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/klauspost/compress/zstd"
)

// things is a resource with everything that changes an answer.
var things = resource.Resource{
	Path: "things", Item: "/r", ID: "/n",
	Routes: []resource.Route{
		{Method: "GET", Path: "/things", Upstream: "/things"}, {Method: "POST", Path: "/things", Upstream: "/things"},
		{Method: "GET", Path: "/things/{id:.+}", Upstream: "/things/{id}"}, {Method: "PUT", Path: "/things/{id}", Upstream: "/things/{id}"},
		{Method: "PATCH", Path: "/things/{id}", Upstream: "/things/{id}"}, {Method: "DELETE", Path: "/things/{id}", Upstream: "/things/{id}"},
	},
	List:   &list.Config{Items: "/r/list", Total: "/r/total"},
	Rename: map[string]string{"id": "n", "title": "t"}, Values: map[string]map[string]string{"state": {"open": "1"}},
	Created: &resource.Created{Status: 201}, Deleted: 204,
	Links: []link.Link{{Rel: "self"}},
}

// passing is the same, and has types that pass as they are.
var passing = func() resource.Resource {
	r := things
	r.Pass = []string{"text/event-stream", "application/x-ndjson", "image/*", "text/html"}
	return r
}()

// answerTo is what becomes of a success of a request.
func answerTo(t testing.TB, r resource.Resource, method, target string) *answer.Answer {
	t.Helper()
	table, err := routes.New([]resource.Resource{r})
	if err != nil {
		t.Fatal(err)
	}
	path, query, _ := strings.Cut(target, "?")
	m, _, refused := table.Match(method, path)
	if refused != nil {
		t.Fatal(refused)
	}
	asked := mapping.Asked{RawQuery: query, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte("{}")}
	up, refused := m.Request(asked)
	if refused != nil {
		t.Fatal(refused)
	}
	values, _ := url.ParseQuery(query)
	return m.Answer(up, answer.Caller{Query: values})
}

// got is an answer as the client has it.
type got struct {
	*httptest.ResponseRecorder
	w       *Writer
	failure *Failure
	wrote   error // of the upstream's last Write
}

// through writes an answer through a Writer in chunks of some size, 0 for one piece.
func through(c Config, status int, header map[string]string, body string, chunk int) got {
	rec := httptest.NewRecorder()
	w := New(rec, c)
	for name, value := range header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	g := got{ResponseRecorder: rec, w: w}
	if chunk == 0 {
		chunk = max(1, len(body))
	}
	for part := []byte(body); len(part) > 0 && g.wrote == nil; part = part[min(chunk, len(part)):] {
		_, g.wrote = w.Write(part[:min(chunk, len(part))])
	}
	g.failure = w.Finish()
	w.Release()
	return g
}

func pack(t testing.TB, coding, text string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "zstd":
		var err error
		if w, err = zstd.NewWriter(&b); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
