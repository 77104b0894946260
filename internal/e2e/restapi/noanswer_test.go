package restapi

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S11: someone who forgets `to` is told so, and no write that nobody received looks done.
func TestRequestsWithoutAnUpstreamFail(t *testing.T) {
	const resources = "resource articles\nresource notes {\n\t\t\tidempotency\n\t\t\tetag\n\t\t}\n"
	g := harness.Prepare(t)
	g.Start(t, worded(resources))
	r := &rig{g, t, make(map[string]string)}
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/articles", ""}, {"GET", "/articles/7", ""}, {"POST", "/articles", `{}`}, {"PUT", "/articles/7", `{}`}, {"DELETE", "/articles/7", ""},
		{"GET", "/notes/7", ""}, {"POST", "/notes", `{}`},
	} {
		wantError(t, r.do("writer", c.method, c.path, c.body), 502, "upstream_unreachable", "")
	}
	if p := r.do("writer", "PATCH", "/articles", `[{"id":7,"op":"replace","path":"/title","value":"x"}]`); p.Status != 207 || !strings.Contains(p.Body, `"status":502`) {
		t.Errorf("S11 a batch: %d %s", p.Status, p.Body)
	}

	t.Run("S11 a handler behind that answers without a body", func(t *testing.T) {
		g := harness.Prepare(t)
		g.Start(t, strings.Replace(worded(resources), "\tapi_rest {", "\trespond 204\n\tapi_rest {", 1))
		r := &rig{g, t, make(map[string]string)}
		for _, method := range []string{"GET", "DELETE"} {
			if p := r.do("writer", method, "/articles/7", ""); p.Status != 204 {
				t.Errorf("%s: %d %s", method, p.Status, p.Body)
			}
		}
	})
}

// R02: what the gateway holds back, to see what it is or to keep it, does not go out if the API dies in the middle.
func TestAnswerThatIsBrokenOffIsNotGivenAsWhole(t *testing.T) {
	for _, to := range []string{"to $LEGACY\n", "to {\n\t\t\treverse_proxy $LEGACY\n\t\t}\n"} {
		u := newRecorded(t, func(w http.ResponseWriter, r *http.Request) {
			media, body := "application/json", `{"id":7,`
			if r.URL.Query().Has("text") {
				media, body = "text/plain", "created 1"
			}
			says(media, body)(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})
		g := harness.Prepare(t)
		g.Start(t, strings.ReplaceAll(worded(to+"resource articles\nresource notes {\n\t\t\tidempotency\n\t\t\tetag\n\t\t}\n"), "$LEGACY", u.Addr))
		r := &rig{g, t, make(map[string]string)}
		for _, c := range []struct{ method, path, body string }{
			{"GET", "/articles", ""}, {"GET", "/articles?text", ""}, {"POST", "/articles", `{}`}, {"POST", "/articles?text", `{}`}, {"DELETE", "/articles/7", ""},
			{"GET", "/notes", ""}, {"POST", "/notes", `{}`}, {"DELETE", "/notes/7", ""},
		} {
			t.Run(c.method+" "+c.path, func(t *testing.T) {
				wantError(t, r.do("writer", c.method, c.path, c.body), 502, "upstream_error", "")
			})
		}
		key := []string{"Idempotency-Key", "k"}
		wantError(t, r.do("writer", "POST", "/notes?text", `{}`, key...), 502, "upstream_error", "")
		wantError(t, r.do("writer", "POST", "/notes?text", `{}`, key...), 409, "idempotency_outcome_unknown", "Idempotency-Key")
	}
}

// S02: the log says, once, that the API does not know the parameter for the limit.
func TestUpstreamIgnoringLimitIsLoggedOnce(t *testing.T) {
	for _, words := range []string{"resource articles\n", "resource articles {\n\t\t\tlist {\n\t\t\t\tsend limit count\n\t\t\t}\n\t\t}\n"} {
		u := newRecorded(t, says("application/json", `[{"id":1},{"id":2},{"id":3}]`))
		g := harness.Prepare(t)
		g.Start(t, strings.Replace(strings.ReplaceAll(worded("to $LEGACY\n"+words), "$LEGACY", u.Addr), "output discard", "output file $DIR/log", 1))
		r := &rig{g, t, make(map[string]string)}
		for _, limit := range []string{"3", "2", "1"} {
			if p := r.do("writer", "GET", "/articles?limit="+limit, ""); p.Status != 200 {
				t.Errorf("%d %s", p.Status, p.Body)
			}
		}
		text, err := os.ReadFile(filepath.Join(g.Dir, "log"))
		if n := strings.Count(string(text), "more items than `limit` asked for"); err != nil || n != 1 {
			t.Errorf("%v: %d lines\n%s", err, n, text)
		}
	}
}

// S02: the log says, once, that the API pages in another way.
func TestUpstreamIgnoringPageIsLoggedOnce(t *testing.T) {
	u := newRecorded(t, says("application/json", `{"total":45,"limit":2,"skip":0,"data":[{"id":1},{"id":2}]}`))
	g := harness.Prepare(t)
	g.Start(t, strings.Replace(strings.ReplaceAll(worded("to $LEGACY\nresource articles\n"), "$LEGACY", u.Addr), "output discard", "output file $DIR/log", 1))
	r := &rig{g, t, make(map[string]string)}
	for _, page := range []string{"2", "3"} {
		if p := r.do("writer", "GET", "/articles?limit=2&page="+page, ""); p.Status != 200 || p.Header.Get("Link") != "" || !strings.Contains(p.Body, `"page":null`) {
			t.Errorf("%d %v %s", p.Status, p.Header, p.Body)
		}
	}
	text, err := os.ReadFile(filepath.Join(g.Dir, "log"))
	if n := strings.Count(string(text), "list { send offset <name> }"); err != nil || n != 1 {
		t.Errorf("%v: %d lines\n%s", err, n, text)
	}
}
