package exchange

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/headerfilter"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/translate"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Config is what an Exchanger needs. All fields are required.
type Config struct {
	Log *slog.Logger
	// Untranslated counts an answer that could not be translated.
	Untranslated func(kind string)
	// StatusOf returns the status that an error is answered with, Told what the client is told.
	StatusOf func(error) int
	Told     func(error) envelope.Error
}

// Exchanger sends requests to APIs. It is safe for concurrent use.
type Exchanger struct {
	Config
	cut        sync.Map // paths of resources whose list the API may have cut
	exceeded   sync.Map // paths of resources whose API gave more items than it was asked for
	unfollowed sync.Map // paths of resources whose API does not know the page that it was asked for
}

// New returns an exchanger.
func New(c Config) *Exchanger { return &Exchanger{Config: c} }

// Exchange is how one request is sent and its answer translated.
type Exchange struct {
	To      operation.Route
	Answer  *answer.Answer
	Dialect *envelope.Config
	// MediaType is the one that the client asked for, "" for application/json.
	MediaType string
	// Locate turns an address of the API into the client's. Nil: addresses stay.
	Locate translate.Locate
	// Surplus ends the request when nothing more of its answer is needed. It may be nil.
	Surplus *responsewriter.Surplus
}

// Send sends r, the API's request, and answers a client, whose own request is client.
func (x *Exchanger) Send(w http.ResponseWriter, r, client *http.Request, e Exchange) error {
	to := translate.New(w, translate.Config{Answer: e.Answer, MediaType: e.MediaType, Method: client.Method, Locate: e.Locate})
	defer to.Release()
	if filter, ok := w.(*headerfilter.Writer); ok {
		filter.Translated = to
	}
	shaped := envelope.NewWriter(to, r, e.Dialect)
	e.Dialect.Ask(r.Header)
	err := recoverUnsent(to, r, func() error {
		if err := e.To.ServeHTTP(shaped, r); err != nil {
			return err
		}
		shaped.Finish()
		return nil
	})
	f := to.Failed()
	if err == nil {
		f = to.Finish() // otherwise what was held back is incomplete
	}
	if f != nil {
		err = x.Unreadable(f)
	}
	switch {
	case err == nil:
		x.settle(to, client, e.Answer, e.Dialect)
		x.noteExceeded(e.Answer)
		x.noteUnfollowed(e.Answer)
		x.noteCut(e.Answer)
		return nil
	case !to.Committed():
	case f != nil:
		x.Log.Error("an answer was broken off", "error", err, "method", client.Method, "path", client.URL.Path)
		panic(http.ErrAbortHandler) // nobody may take what was sent for the whole
	default:
		return operation.NewLate(err)
	}
	w.Header().Del("Location") // of an answer that is not given
	return err
}

// recoverUnsent calls a handler. A proxy panics when the API goes away in the middle of an answer;
// recoverUnsent turns that into an error as long as nothing was sent, because a status tells the
// client more than a connection that ends. Nobody answers a client that has gone itself.
func recoverUnsent(to *translate.Writer, r *http.Request, call func() error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p != http.ErrAbortHandler || to.Committed() || r.Context().Err() != nil { //nolint:errorlint // net/http compares it so too
			panic(p)
		}
		err = operation.BrokenOff(operation.ErrBrokenOff)
	}()
	return call()
}

// SendAlone sends a request whose answer no client is waiting for, and writes the translated
// answer to w. Its error, which it logs, says why there is no complete answer; a panic of a handler
// becomes one.
func (x *Exchanger) SendAlone(w http.ResponseWriter, r *http.Request, e Exchange) (err error) {
	defer func() {
		// Nobody recovers for a goroutine, and one request must not end the process.
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so too
				x.Log.Error("a handler of the upstream panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()), "method", r.Method, "path", r.URL.Path)
			}
			err = operation.BrokenOff(operation.ErrBrokenOff)
		}
	}()
	translated := translate.New(w, translate.Config{Answer: e.Answer})
	defer translated.Release()
	shaped := envelope.NewWriter(translated, r, e.Dialect)
	e.Dialect.Ask(r.Header)
	if err = e.Surplus.Send(func() error { return e.To.ServeHTTP(shaped, r) }); err == nil && !e.Surplus.Ended() {
		shaped.Finish()
		if f := translated.Finish(); f != nil {
			err = x.Unreadable(f)
		} else {
			x.settle(translated, r, e.Answer, e.Dialect)
		}
	}
	if err != nil {
		x.Log.Error("request failed", "error", err, "method", r.Method, "path", r.URL.Path)
	}
	return err
}

// Unreadable returns the error for an answer that could not be translated, and counts it.
func (x *Exchanger) Unreadable(f *translate.Failure) error {
	if errors.Is(f, translate.ErrNothing) {
		return envelope.Fail(http.StatusNotFound, "", "", f)
	}
	x.Untranslated(string(f.Kind))
	return envelope.Fail(http.StatusBadGateway, "upstream_error", "the service behind the gateway gave an answer that could not be read", f)
}
