package headerfilter_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/headerfilter"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// newCall returns the call of a declared operation, and how its answer is translated.
func newCall(t *testing.T, method, path string) (*operation.Call, *answer.Answer) {
	t.Helper()
	return newCallOf(t, resource.Resource{Path: "articles", HeaderDown: []string{"X-Passes"}}, method, path)
}

func newCallOf(t *testing.T, r resource.Resource, method, path string) (*operation.Call, *answer.Answer) {
	t.Helper()
	table, err := routes.New([]resource.Resource{r})
	if err != nil {
		t.Fatal(err)
	}
	m, _, refused := table.Match(method, path)
	if refused != nil {
		t.Fatal(refused)
	}
	c := &operation.Call{Request: httptest.NewRequest(method, path, nil), Match: m, Table: table, Path: path}
	return c, m.Answer(mapping.Upstream{}, answer.Caller{})
}

func TestOnlyUpstreamFieldsAreRemoved(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		front  http.Header // set by handlers in front
		api    http.Header
		want   string // the fields that reach the client
	}{
		{"unknown ones", 200, nil, http.Header{"Server": {"x"}, "X-Powered-By": {"x"}, "X-Passes": {"1"}, "Content-Type": {"application/json"}}, "Content-Type X-Passes"},
		{"of handlers in front", 200, http.Header{"X-Trace": {"7"}}, http.Header{}, "X-Trace"},
		{"of the API under the same name", 200, http.Header{"X-Trace": {"7"}}, http.Header{"X-Trace": {"7", "8"}}, "X-Trace"},
		{"replaced by the API", 200, http.Header{"X-Trace": {"7"}}, http.Header{"X-Trace": {"8"}}, ""},
		{"Via of the gateway's proxy", 200, nil, http.Header{"Via": {"1.1 inner", "1.1 Caddy"}}, "Via"},
		{"Via of another proxy", 200, nil, http.Header{"Via": {"1.1 inner"}}, ""},
		{"a Link that clients can follow", 200, nil, http.Header{"Link": {`</articles?page=2>; rel="next"`}}, "Link"},
		{"a Link to somewhere else", 200, nil, http.Header{"Link": {`</articles?page=2>; rel="next", </admin>; rel="up"`}}, ""},
		{"a Link of an error", 404, nil, http.Header{"Link": {`</articles>; rel="up"`}}, ""},
	} {
		call, a := newCall(t, http.MethodGet, "/articles")
		rec := httptest.NewRecorder()
		for name, values := range c.front {
			rec.Header()[name] = values
		}
		w := headerfilter.New(rec, call, a)
		for name, values := range c.api {
			w.Header()[name] = values
		}
		w.WriteHeader(c.status)
		w.Finish()
		var got []string
		for _, name := range []string{"Content-Type", "Link", "Server", "Via", "X-Passes", "X-Powered-By", "X-Trace"} {
			if values := rec.Result().Header[name]; len(values) == 1 {
				got = append(got, name)
			} else if len(values) > 1 {
				t.Errorf("%s: %s: %q", c.name, name, values)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

func TestFieldsWithSecretsAreRemoved(t *testing.T) {
	call, a := newCall(t, http.MethodPost, "/articles")
	for name, status := range map[string]int{"Location": 201, "Content-Location": 201, "Www-Authenticate": 401, "X-Passes": 201} {
		rec := httptest.NewRecorder()
		w := headerfilter.New(rec, call, a)
		w.Secret = func(text string) bool { return strings.Contains(text, "hush") }
		w.Header().Set(name, "/articles/7?token=hush")
		w.WriteHeader(status)
		w.Finish()
		if got := rec.Result().Header.Get(name) != ""; got != (name == "X-Passes") {
			t.Errorf("%s passes: %v", name, got)
		}
	}
}

func Test405ListsTheOtherMethods(t *testing.T) {
	call, a := newCall(t, http.MethodDelete, "/articles/7")
	rec := httptest.NewRecorder()
	w := headerfilter.New(rec, call, a)
	w.Header().Set("Allow", "TRACE")
	w.WriteHeader(http.StatusMethodNotAllowed)
	if got := rec.Header().Get("Allow"); strings.Contains(got, "DELETE") || strings.Contains(got, "TRACE") || !strings.Contains(got, "GET") {
		t.Error(got)
	}
}

func TestFilteredTrailersAreRemoved(t *testing.T) {
	call, a := newCall(t, http.MethodGet, "/articles")
	rec := httptest.NewRecorder()
	w := headerfilter.New(rec, call, a)
	w.Header()["Trailer"] = []string{"X-Passes, X-Debug"}
	if _, err := w.Write([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"X-Passes": "1", "X-Debug": "2", http.TrailerPrefix + "X-Passes": "3", http.TrailerPrefix + "X-More": "4"} {
		w.Header()[name] = []string{value}
	}
	w.Finish()
	h := rec.Header()
	if strings.Join(h["Trailer"], ",") != "X-Passes" || h.Get("X-Passes") != "1" || h["X-Debug"] != nil || h[http.TrailerPrefix+"X-Passes"] == nil || h[http.TrailerPrefix+"X-More"] != nil {
		t.Errorf("%v", h)
	}
}

// What the API says of its own bytes may be made of what clients do not see.
func TestDigestsOfAlteredResourcesAreRemoved(t *testing.T) {
	digests := []string{"Etag", "Content-Digest", "Repr-Digest", "Digest", "Content-Md5"}
	whole, altered := resource.Resource{Path: "articles"}, resource.Resource{Path: "articles", Drop: []string{"pin"}}
	for _, c := range []struct {
		resource resource.Resource
		method   string
		status   int
		passes   bool
	}{
		{whole, http.MethodGet, 200, true}, {whole, http.MethodPut, 204, true}, {whole, http.MethodGet, 304, true}, {whole, http.MethodPut, 409, true},
		{altered, http.MethodGet, 200, true}, // package translate removes them if it translates the body
		{altered, http.MethodGet, 204, false}, {altered, http.MethodGet, 206, false}, {altered, http.MethodGet, 304, false}, {altered, http.MethodGet, 404, false},
		{altered, http.MethodPut, 200, false}, {altered, http.MethodPut, 204, false}, {altered, http.MethodPut, 412, false}, {altered, http.MethodDelete, 204, false},
	} {
		call, a := newCallOf(t, c.resource, c.method, "/articles/7")
		rec := httptest.NewRecorder()
		w := headerfilter.New(rec, call, a)
		w.Header()["Trailer"] = digests
		for _, name := range digests {
			w.Header()[name] = []string{"x"}
		}
		w.WriteHeader(c.status)
		for _, name := range digests {
			if got := rec.Result().Header[name] != nil; got != c.passes {
				t.Errorf("%s %d: %s passes: %v", c.method, c.status, name, got)
			}
			w.Header()[name] = []string{"late"}
			w.Header()[http.TrailerPrefix+name] = []string{"late"}
		}
		w.Finish()
		for _, name := range digests {
			late := rec.Header()[http.TrailerPrefix+name] != nil || rec.Header().Get(name) == "late"
			if late == (c.resource.Drop != nil) {
				t.Errorf("%s %d: %s passes as a trailer: %v", c.method, c.status, name, late)
			}
		}
	}
}

// informed records informational answers with their fields.
type informed struct {
	*httptest.ResponseRecorder
	seen []string
}

// WriteHeader implements http.ResponseWriter.
func (w *informed) WriteHeader(status int) {
	if status < http.StatusOK {
		w.seen = append(w.seen, http.StatusText(status)+w.Header().Get("Link")+w.Header().Get("Server"))
		return
	}
	w.ResponseRecorder.WriteHeader(status)
}

func TestInformationalAnswersAreFilteredSeparately(t *testing.T) {
	call, a := newCall(t, http.MethodGet, "/articles")
	rec := &informed{ResponseRecorder: httptest.NewRecorder()}
	w := headerfilter.New(rec, call, a)
	w.Header().Set("Server", "x")
	w.Header().Set("X-Passes", "1")
	w.Header().Set("Link", "</style.css>; rel=preload")
	w.WriteHeader(http.StatusEarlyHints)
	w.WriteHeader(http.StatusProcessing)
	if strings.Join(rec.seen, ",") != "Processing" {
		t.Errorf("%q", rec.seen)
	}
	if w.Header().Get("Server") == "" {
		t.Error("the final header has lost a field before it was decided about")
	}
	w.Flush()
	if h := rec.Result().Header; h.Get("Server") != "" || h.Get("X-Passes") != "1" || !rec.Flushed {
		t.Errorf("%v", h)
	}
}

func TestUnsentAnswerLeavesNoHeaders(t *testing.T) {
	call, a := newCall(t, http.MethodGet, "/articles")
	rec := httptest.NewRecorder()
	w := headerfilter.New(rec, call, a)
	w.Header().Set("X-Debug", "1")
	w.Finish()
	if len(rec.Header()) > 0 {
		t.Errorf("%v", rec.Header())
	}
}
