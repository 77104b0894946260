package exchange_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/exchange"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// route is an API.
type route func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP implements [operation.Route].
func (f route) ServeHTTP(w http.ResponseWriter, r *http.Request) error { return f(w, r) }

// answers is an API that gives one answer.
func answers(status int, media, body string) route {
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, err := io.WriteString(w, body)
		return err
	}
}

type rig struct {
	*exchange.Exchanger
	untranslated []string
}

func newRig() *rig {
	r := &rig{}
	refusal := func(err error) *envelope.Refusal {
		var refused *envelope.Refusal
		if errors.As(err, &refused) {
			return refused
		}
		return envelope.Refuse(http.StatusInternalServerError, "")
	}
	r.Exchanger = exchange.New(exchange.Config{
		Log: slog.New(slog.DiscardHandler), Untranslated: func(kind string) { r.untranslated = append(r.untranslated, kind) },
		StatusOf: func(err error) int { return refusal(err).Status }, Told: func(err error) envelope.Error { return refusal(err).Told() },
	})
	return r
}

// readArticle translates what an API answers to GET /articles/7: the resource is in /result.
func readArticle(t *testing.T, to operation.Route) exchange.Exchange {
	t.Helper()
	table, err := routes.New([]resource.Resource{{Path: "articles", Item: "/result"}})
	if err != nil {
		t.Fatal(err)
	}
	m, _, refused := table.Match(http.MethodGet, "/articles/7")
	if refused != nil {
		t.Fatal(refused)
	}
	return exchange.Exchange{To: to, Answer: m.Answer(mapping.Upstream{}, answer.Caller{}), Dialect: new(envelope.Config)}
}

func TestClientAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		api          route
		status       int    // of the answer; 0: there is none
		body         string // part of it
		failed       int    // status of the error; 0: there is none
		untranslated int
	}{
		"a resource":          {answers(200, "application/json", `{"result":{"id":7}}`), 200, `{"id":7}`, 0, 0},
		"an error of the API": {answers(404, "application/json", `{"message":"no such article"}`), 404, `"message":"no such article"`, 0, 0},
		"no resource in it":   {answers(200, "application/json", `{"other":1}`), 0, "", 502, 1},
		"broken JSON":         {answers(200, "application/json", `{"result":`), 0, "", 502, 1},
		"null in its place":   {answers(200, "application/json", `{"result":null}`), 0, "", 404, 0},
		"an error of the way": {func(http.ResponseWriter, *http.Request) error { return envelope.Refuse(503, "") }, 0, "", 503, 0},
		"a connection that breaks before the header": {func(http.ResponseWriter, *http.Request) error { panic(http.ErrAbortHandler) }, 0, "", 502, 0},
	} {
		t.Run(name, func(t *testing.T) {
			x := newRig()
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/articles/7", nil)
			err := x.Send(w, r, r, readArticle(t, c.api))
			var refused *envelope.Refusal
			switch {
			case c.failed == 0:
				if err != nil || w.Code != c.status || !strings.Contains(w.Body.String(), c.body) {
					t.Errorf("%d %s, %v", w.Code, w.Body, err)
				}
			case !errors.As(err, &refused) || refused.Status != c.failed || operation.IsLate(err) || w.Body.Len() > 0:
				t.Errorf("%v, %s", err, w.Body)
			}
			if len(x.untranslated) != c.untranslated {
				t.Errorf("counted %v", x.untranslated)
			}
		})
	}
}

// begins is an API that sends the beginning of a long answer, and then ends otherwise.
func begins(then func() error) route {
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", "application/json")
		_, err := fmt.Fprintf(w, `{"result":{"text":"%s`, strings.Repeat("x", 1<<20))
		if err == nil {
			err = http.NewResponseController(w).Flush()
		}
		if err != nil {
			return err
		}
		return then()
	}
}

func TestPartialAnswerIsNeverTakenForComplete(t *testing.T) {
	aborted := func(api route) (err error, aborted bool) { //nolint:revive // a panic, or an error
		defer func() {
			if p := recover(); p != nil {
				aborted = p == http.ErrAbortHandler //nolint:errorlint // net/http compares it so too
			}
		}()
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/articles/7", nil)
		return newRig().Send(w, r, r, readArticle(t, api)), false
	}
	if _, ok := aborted(begins(func() error { return nil })); !ok {
		t.Error("an answer that ends too soon does not abort the connection")
	}
	if _, ok := aborted(begins(func() error { panic(http.ErrAbortHandler) })); !ok {
		t.Error("an upstream that dies does not abort the connection")
	}
}

func TestInternalRequestFailuresBecomeErrors(t *testing.T) {
	for name, api := range map[string]route{
		"an abort":    func(http.ResponseWriter, *http.Request) error { panic(http.ErrAbortHandler) },
		"a panic":     func(http.ResponseWriter, *http.Request) error { panic("a bug") },
		"an error":    func(http.ResponseWriter, *http.Request) error { return envelope.Refuse(502, "") },
		"broken JSON": answers(200, "application/json", `{"result":`),
	} {
		r := httptest.NewRequest(http.MethodGet, "/articles/7", nil)
		var refused *envelope.Refusal
		if err := newRig().SendAlone(httptest.NewRecorder(), r, readArticle(t, api)); !errors.As(err, &refused) || refused.Status != http.StatusBadGateway {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestExchangeRecordsAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		api    route
		status int
		body   string
	}{
		"a resource":          {answers(200, "application/json", `{"result":{"id":7}}`), 200, `{"id":7}`},
		"an error of the API": {answers(409, "application/json", `{"message":"taken"}`), 409, `"message":"taken"`},
		"an error of the way": {func(http.ResponseWriter, *http.Request) error { return envelope.Refuse(504, "") }, 504, `"error"`},
		"a redirect":          {answers(302, "text/html", ""), 502, `"upstream_error"`},
	} {
		newRequest := func(_ http.ResponseWriter, up mapping.Upstream) *http.Request {
			return httptest.NewRequest(up.Method, up.Path, nil)
		}
		up := mapping.Upstream{Method: http.MethodGet, Path: "/articles/7", Set: make(http.Header)}
		got := newRig().Record(up, readArticle(t, c.api), 1<<10, newRequest)
		if got.Status != c.status || !strings.Contains(string(got.Body), c.body) {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
}
