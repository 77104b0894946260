package idempotent

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

const (
	// carryTime is how long a request goes on when its client has gone: the outcome is to be
	// known when the client comes back.
	carryTime = time.Minute
	// noteTime is how long the store has to record a key or an outcome: the client waits for it.
	noteTime = 5 * time.Second
)

// Handler answers calls with an Idempotency-Key. All fields are required.
type Handler struct {
	Keeper *Keeper
	// Hold keeps the store open until release is called.
	Hold func() (release func(), err error)
	// Site identifies the site that a request was sent to.
	Site func(*http.Request) string
	// Network is the network of a client that has no token.
	Network func(*http.Request) string
	// Undone reports whether an error says that the request was not sent to the API.
	Undone func(error) bool
	// MaxBody is how many bytes a request may have.
	MaxBody int64
	Log     *slog.Logger
}

// Serve lets next carry out a call with a key at most once, as far as that can be known, and
// answers a repetition with the first answer.
func (h *Handler) Serve(w http.ResponseWriter, c *operation.Call, next operation.Handler) error {
	text, given, refused := Parse(c.Request.Header)
	switch {
	case refused != nil:
		return refused
	case !given:
		return next(w, c)
	}
	body := c.Asked.Body
	if !c.Match.Operation.Requests.ReadsBody() {
		if body, refused = request.ReadBody(c.Request, h.MaxBody); refused != nil {
			return refused
		}
	}
	// What is wrong with the request is said before the key is used: it stays free for the
	// right one.
	if _, refused := c.Match.Request(c.Asked); refused != nil {
		return refused
	}
	release, err := h.Hold()
	if err != nil {
		return envelope.Unavailable(err)
	}
	defer release()
	key := h.key(c, text)
	media, _ := envelope.MediaType(c.Request.Header)
	at := h.Site(c.Request) + c.Prefix + c.Match.Address() + c.MediaType // either the prefix or the media type names the version
	digest := key.Digest([]byte(c.Request.Method), []byte(at), []byte(c.Asked.RawQuery), []byte(media), request.WithoutBoundary(c.Request.Header, body))
	attempt, answer, refused, err := h.Keeper.Begin(c.Request.Context(), key, digest)
	switch {
	case err != nil:
		return envelope.Unavailable(err)
	case refused != nil:
		return refused
	case answer != nil:
		answer.replay(w)
		return nil
	}
	return h.carry(w, withAPIKey(c), body, attempt, next)
}

func (h *Handler) key(c *operation.Call, text string) Key {
	k := Key{Resource: c.Match.Operation.Path, Text: text}
	if c.Access != nil {
		k.Client, k.User = c.Access.Client, c.Access.Subject
		if !strings.HasPrefix(c.Access.Subject, token.ClientSubject) {
			k.Share = c.Access.Subject
		}
		return k
	}
	// Without a guard the API knows its callers. Those without any credentials share their keys,
	// which nobody can guess.
	var b strings.Builder
	for _, name := range credentials {
		for _, value := range c.Request.Header[name] {
			b.WriteString(name + ": " + value + "\n")
		}
	}
	k.User = "credentials: " + b.String()
	k.Share = h.Network(c.Request) // the gateway does not check those credentials
	return k
}

// credentials are the fields in which callers identify themselves to APIs that know them. A field
// that differs in each request, such as a signature, is not among them: it would make a
// repetition a request of its own.
var credentials = []string{
	"Authorization", "Cookie", "X-Api-Key", "Api-Key", "Apikey", "X-Apikey", "X-Auth-Token", "X-Auth-Key", "X-Access-Token", "X-Token", "Private-Token",
}

// withAPIKey returns the call with the key that the API gets. It is the client's own where the gateway
// does not know the caller: the API does, and one who repeats a request after renewing credentials is
// another caller to the gateway, but not to the API.
func withAPIKey(c *operation.Call) *operation.Call {
	if c.Access == nil {
		return c
	}
	own := *c
	own.Request = c.Request.Clone(c.Request.Context())
	own.Request.Header.Set(Header, c.APIKey(c.Match))
	own.Asked.Header = own.Request.Header
	return &own
}

// carry lets next carry out a call, and records the outcome before the client is answered.
func (h *Handler) carry(w http.ResponseWriter, c *operation.Call, body []byte, attempt *Attempt, next operation.Handler) (err error) {
	ctx, cancel := outliving(c.Request.Context(), carryTime)
	defer cancel()
	own := *c
	own.Request = c.Request.WithContext(ctx)
	if !c.Match.Operation.Requests.ReadsBody() {
		own.Request.Body, own.Request.ContentLength, own.Request.TransferEncoding = request.InMemory(body), int64(len(body)), nil
	}
	held := responsewriter.NewHold(w, MaxAnswer)
	ended := false
	defer func() {
		if !ended { // a panic: the answer was broken off
			h.note(c, attempt.Lose)
		}
	}()
	err = next(held, &own)
	ended = true
	switch {
	case err == nil && held.Passed():
		h.note(c, func(ctx context.Context) error { return attempt.Know(ctx, held.Status()) })
		return nil
	case err == nil:
		h.note(c, func(ctx context.Context) error { return settle(ctx, attempt, held) })
		_ = held.Pass() // a client that has gone may ask again
		return nil
	case !operation.IsLate(err) && h.Undone(err):
		h.note(c, attempt.Undo)
	default:
		h.note(c, attempt.Lose)
	}
	return operation.HeldError(held, err)
}

// settle records the outcome of a request whose complete answer is held.
func settle(ctx context.Context, attempt *Attempt, held *responsewriter.Hold) error {
	status := held.Status()
	if status == 0 {
		status = http.StatusOK
	}
	switch OutcomeOf(status) {
	case Undone:
		return attempt.Undo(ctx)
	case Unknown:
		return attempt.Lose(ctx)
	}
	return attempt.Keep(ctx, Answer{Status: status, Header: keepable(held.Added()), Body: held.Body()})
}

// note records an outcome, and logs when that fails. The client is answered all the same: the
// request was carried out, and a repetition is told that the outcome is unknown.
func (h *Handler) note(c *operation.Call, write func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), noteTime)
	defer cancel()
	if err := write(ctx); err != nil {
		h.Log.Error("what came of a request with an Idempotency-Key could not be kept", "error", err, "method", c.Request.Method, "path", c.Request.URL.Path)
	}
}

// replay answers with a kept answer.
func (a *Answer) replay(w http.ResponseWriter) {
	h := w.Header()
	for name, values := range a.Header {
		h[name] = values
	}
	h.Set(replayed, "true")
	if a.Status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // a client that has gone may ask again
}

// outliving returns a context with the values of another that ends some time after it.
func outliving(parent context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		t := time.AfterFunc(grace, cancel)
		context.AfterFunc(ctx, func() { t.Stop() })
	})
	return ctx, func() { stop(); cancel() }
}
