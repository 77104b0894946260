package restapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/rest/idempotent"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/job"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// once is what remembers requests with an Idempotency-Key.
type once struct {
	h      *REST
	app    *gateway.App
	server func() string // see gateway.App.APIServer
	keeper *idempotent.Keeper
}

// takeIdempotency builds it, when a resource declares it.
func (h *REST) takeIdempotency(ctx caddy.Context) error {
	if !h.declares(func(r *resource.Resource) bool { return r.Idempotency }) {
		return nil
	}
	app, err := gateway.FindApp(ctx, "api_rest")
	if err != nil {
		return fmt.Errorf("api_rest: answers for an Idempotency-Key are kept in its store: %w", err)
	}
	stored := ledger{app.Store()}
	keeper, err := idempotent.New(idempotent.Config{Ledger: stored, Tallies: stored, Attempt: secret.ID, Now: time.Now})
	if err != nil {
		return fmt.Errorf("api_rest: %w", err)
	}
	h.once = &once{h, app, app.APIServer(ctx), keeper}
	return nil
}

// declares looks through all declared resources.
func (h *REST) declares(it func(*resource.Resource) bool) bool {
	tables := []*routes.Table{h.plain.table}
	for _, e := range h.editions {
		tables = append(tables, e.table)
	}
	for _, t := range tables {
		for _, o := range t.Operations() {
			if it(o.Resource) {
				return true
			}
		}
	}
	return false
}

// around carries a request with a key out at most once, as far as that can be known.
func (o *once) around(next operation) operation {
	return func(w http.ResponseWriter, c *call, m routes.Match, asked mapping.Asked) error {
		text, given, refused := idempotent.Parse(c.r.Header)
		switch {
		case refused != nil:
			return refused
		case !given:
			return next(w, c, m, asked)
		}
		body := asked.Body
		if !m.Operation.Requests.ReadsBody() {
			if body, refused = request.ReadBody(c.r, o.h.MaxBody); refused != nil {
				return refused
			}
		}
		// What is wrong with the request is said before the key is taken: it can be used for
		// the right one.
		if _, refused := m.Request(asked); refused != nil {
			return refused
		}
		leave, err := o.app.Hold()
		if err != nil {
			return envelope.Unavailable(err)
		}
		defer leave()
		key := o.key(c, m, text)
		digest := key.Digest([]byte(c.r.Method), []byte(site(c.r, o.server)+c.prefix+m.Address()), []byte(asked.RawQuery), []byte(mediaType(c.r.Header)), body)
		attempt, answer, refused, err := o.keeper.Begin(c.r.Context(), key, digest)
		switch {
		case err != nil:
			return envelope.Unavailable(err)
		case refused != nil:
			return refused
		case answer != nil:
			replay(w, answer)
			return nil
		}
		return o.carry(w, c, m, asked, body, attempt, next)
	}
}

func (o *once) key(c *call, m routes.Match, text string) idempotent.Key {
	k := idempotent.Key{Resource: m.Operation.Path, Text: text}
	if access := handler.Caller(c.r); access != nil {
		k.Client, k.User = access.Client, access.Subject
		if !strings.HasPrefix(access.Subject, token.ClientSubject) {
			k.Share = access.Subject
		}
	} else {
		// Without a guard the upstream knows its callers. Those who say nothing share their
		// keys, which nobody guesses.
		var b strings.Builder
		for _, name := range credentials {
			for _, value := range c.r.Header[name] {
				b.WriteString(name + ": " + value + "\n")
			}
		}
		k.User = "credentials: " + b.String()
		k.Share = handler.ClientNetwork(c.r) // what they say they are is not checked here
	}
	return k
}

// credentials are the fields in which callers say who they are to APIs that know them.
// What is another in each request, such as a signature, would make a repetition a request
// of its own.
var credentials = []string{
	"Authorization", "Cookie", "X-Api-Key", "Api-Key", "Apikey", "X-Apikey", "X-Auth-Token", "X-Auth-Key", "X-Access-Token", "X-Token", "Private-Token",
}

// carryTime is how long a request goes on when its client has gone: what came of it is to
// be known when the client comes back.
const carryTime = time.Minute

// carry sends the request, and keeps what came of it before the client is told.
func (o *once) carry(w http.ResponseWriter, c *call, m routes.Match, asked mapping.Asked, body []byte, attempt *idempotent.Attempt, next operation) (err error) {
	ctx, cancel := outliving(c.r.Context(), carryTime)
	defer cancel()
	own := *c
	own.r = c.r.WithContext(ctx)
	if !m.Operation.Requests.ReadsBody() {
		own.r.Body, own.r.ContentLength, own.r.TransferEncoding = request.InMemory(body), int64(len(body)), nil
	}
	held := responsewriter.NewHold(w, idempotent.MaxAnswer)
	ended := false
	defer func() {
		if !ended { // a panic: the answer was broken off
			o.note(c, attempt.Lose)
		}
	}()
	err = next(held, &own, m, asked)
	ended = true
	switch {
	case err == nil && held.Passed():
		o.note(c, func(ctx context.Context) error { return attempt.Know(ctx, held.Status()) })
		return nil
	case err == nil:
		o.note(c, func(ctx context.Context) error { return settle(ctx, attempt, held) })
		_ = held.Pass() // a client that has gone may ask again
		return nil
	case !isLate(err) && undone(err):
		o.note(c, attempt.Undo)
	default:
		o.note(c, attempt.Lose)
	}
	return early(held, err)
}

// settle keeps an answer that is held whole.
func settle(ctx context.Context, attempt *idempotent.Attempt, held *responsewriter.Hold) error {
	status := held.Status()
	if status == 0 {
		status = http.StatusOK
	}
	switch idempotent.OutcomeOf(status) {
	case idempotent.Undone:
		return attempt.Undo(ctx)
	case idempotent.Unknown:
		return attempt.Lose(ctx)
	}
	return attempt.Keep(ctx, idempotent.Answer{Status: status, Header: idempotent.Keepable(held.Added()), Body: held.Body()})
}

// noteTime is how long the store has to take note: the client waits for it.
const noteTime = 5 * time.Second

// note writes down what came of a request, and logs when that fails. The client has its
// answer all the same: what was done is done, and a repetition is told that the outcome is
// unknown.
func (o *once) note(c *call, write func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.r.Context()), noteTime)
	defer cancel()
	if err := write(ctx); err != nil {
		o.h.log.Error("what came of a request with an Idempotency-Key could not be kept", "error", err, "method", c.r.Method, "path", c.r.URL.Path)
	}
}

// undone reports whether an error says that nothing was sent: the gateway refused the
// request itself, there was no upstream for it, or no connection to one.
func undone(err error) bool {
	var dial reverseproxy.DialError
	status := statusOf(err)
	var unsent notSignedIn
	if errors.As(err, &unsent) {
		return true
	}
	if errors.Is(err, job.ErrUnknown) || status == idempotent.GivenUp {
		return false
	}
	return status < 500 || status == http.StatusServiceUnavailable || errors.As(err, &dial) || errors.Is(err, errNowhere) || errors.Is(err, errNoAnswer)
}

func replay(w http.ResponseWriter, a *idempotent.Answer) {
	h := w.Header()
	for name, values := range a.Header {
		h[name] = values
	}
	h.Set(idempotent.Replayed, "true")
	if a.Status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // a client that has gone may ask again
}

// outliving is a context with the values of another, that ends some time after it.
func outliving(parent context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		t := time.AfterFunc(grace, cancel)
		context.AfterFunc(ctx, func() { t.Stop() })
	})
	return ctx, func() { stop(); cancel() }
}

// early is an error after the header, when the client has seen nothing of it yet.
func early(held *responsewriter.Hold, err error) error {
	if !isLate(err) || held.Passed() {
		return err
	}
	return broken(err)
}

func mediaType(h http.Header) string {
	media, _ := envelope.MediaType(h)
	return media
}
