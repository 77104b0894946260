package restapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/internal/rest/translate"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// Trial answers requests as a handler would, with an upstream that is imagined. It dials
// nobody and keeps nothing.
type Trial struct {
	h   *REST
	why why
}

// Imagined is an answer of the upstream.
type Imagined struct {
	Status int
	Header http.Header
	Body   []byte
}

// Sent is a request that the upstream would have been sent.
type Sent struct {
	Method string      `json:"method"`
	URL    string      `json:"url"`
	Header http.Header `json:"header"`
	Body   string      `json:"body,omitempty"`
}

// Tried is what the client would be answered, and what was sent for it.
type Tried struct {
	Sent   []Sent      `json:"sent"`
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   string      `json:"body"`
	// Cut says that the gateway broke the answer off, since it was none that it could
	// translate to its end.
	Cut bool `json:"cut,omitempty"`
	// Why there is no answer, or no whole one: what the log of a gateway would say.
	Why string `json:"why,omitempty"`
}

// NewTrial reads the configuration of a handler. What needs a store is left out: jobs, and
// keys of idempotency.
func NewTrial(ctx caddy.Context, config []byte) (*Trial, error) {
	h := new(REST)
	if err := json.Unmarshal(config, h); err != nil {
		return nil, err
	}
	h.Upstream, h.Jobs, h.OpenAPI, h.Lint = nil, nil, nil, "off"
	for i := range h.Versions {
		h.Versions[i].Upstream, h.Versions[i].Login = nil, nil
	}
	for _, resources := range h.Declared() {
		for r := range resource.All(resources) {
			r.Idempotency = false
		}
	}
	keys, err := secret.NewKeys(secret.Bytes(secret.MinLength))
	if err != nil {
		return nil, err
	}
	h.follows = 1         // there is one answer
	h.cursors = &cursors{ // of no use to a gateway
		keys: func(context.Context) (*secret.Keys, error) { return keys, nil }, server: func() string { return "" },
	}
	h.unresolved, h.Login = true, nil
	t := &Trial{h: h}
	err = h.Provision(ctx)
	h.log = slog.New(&t.why) // people are told where they look
	if h.exchanger != nil {
		h.exchanger.Log = h.log
	}
	return t, err
}

// why is a log that keeps the last error.
type why struct {
	slog.Handler
	err error
}

// Enabled implements slog.Handler.
func (*why) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

// Handle implements slog.Handler.
func (w *why) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok {
			w.err = err
		}
		return true
	})
	return nil
}

// explain says what was logged, and which pointer leads nowhere.
func (t *Trial) explain(r *http.Request) string {
	var f *translate.Failure
	var handled caddyhttp.HandlerError
	switch {
	case t.why.err == nil:
		return ""
	case errors.As(t.why.err, &f):
	case errors.As(t.why.err, &handled) && handled.Err != nil:
		return handled.Err.Error()
	default:
		return t.why.err.Error()
	}
	choice, _ := t.h.versions.Negotiate(r.URL.EscapedPath(), r.Header["Accept"])
	m, _, _ := t.h.editionOf(choice).table.Match(r.Method, choice.Path)
	if !errors.Is(f, splice.ErrRoot) || m.Operation == nil {
		return f.Error()
	}
	word, pointer := "item", m.Operation.Answers.ItemPointer()
	if m.Operation.Kind == resource.List {
		word, pointer = "items", m.Operation.Resource.List.Items
	}
	return fmt.Sprintf("%v: `%s %s`", f, word, pointer)
}

// Try carries one request. r is prepared as Caddy does.
func (t *Trial) Try(r *http.Request, upstream Imagined) (tried Tried, err error) {
	tried.Sent = []Sent{}
	rec := responsewriter.NewRecorder(16 << 20)
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler: //nolint:errorlint // net/http compares it so too
			tried.Cut = true
		default:
			panic(p)
		}
		got := rec.Reply()
		tried.Status, tried.Header, tried.Body, tried.Why = got.Status, got.Header, string(got.Body), t.explain(r)
	}()
	t.why.err = nil
	err = t.h.ServeHTTP(rec, r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		tried.Sent = append(tried.Sent, Sent{r.Method, r.URL.RequestURI(), r.Header, string(body)})
		for name, values := range upstream.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(upstream.Status)
		_, err = io.Copy(w, bytes.NewReader(upstream.Body))
		return err
	}))
	return tried, err
}
