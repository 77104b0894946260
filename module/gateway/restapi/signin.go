package restapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// keepers are the sessions at upstreams, by a digest of what they were made from: a reload that
// changes nothing of that goes on with the session, and with the back-off.
var keepers = caddy.NewUsagePool()

type pooledKeeper struct{ *login.Keeper }

// Destruct implements caddy.Destructor.
func (pooledKeeper) Destruct() error { return nil }

// signIn is the gateway's own sign-in at an edition's upstream.
type signIn struct {
	h      *REST
	plan   *login.Plan
	keeper *login.Keeper
	pooled string // the key of keeper in keepers
	to     route
}

// newSignIn compiles one. from identifies the upstream.
func (h *REST) newSignIn(c *login.Config, to route, from []byte) (*signIn, error) {
	if c == nil {
		return nil, nil
	}
	if to == nil {
		return nil, errors.New("login needs an upstream of its own: expected `to`")
	}
	plan, err := login.New(c)
	if err != nil {
		return nil, err
	}
	s := &signIn{h: h, plan: plan, to: to}
	sum := sha256.New()
	declared, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintf(sum, "%q %q", declared, from)
	for _, step := range c.Steps {
		for _, v := range step.Send {
			value, err := fill(v.Value)
			_, _ = fmt.Fprintf(sum, " %q %t", value, err == nil) // a password that was put right is tried at once
		}
	}
	s.pooled = string(sum.Sum(nil))
	pooled, _, err := keepers.LoadOrNew(s.pooled, func() (caddy.Destructor, error) { return pooledKeeper{login.NewKeeper(time.Now)}, nil })
	if err != nil {
		return nil, err
	}
	s.keeper = pooled.(pooledKeeper).Keeper
	return s, nil
}

// Cleanup releases the session at the upstream. The last configuration that uses it ends it.
func (h *REST) Cleanup() error {
	if h.plain.login == nil {
		return nil
	}
	_, err := keepers.Delete(h.plain.login.pooled)
	return err
}

// fill fills in the placeholders of a step. Nobody asks, so there is no request in them.
func fill(written string) (string, error) {
	value, err := caddy.NewReplacer().ReplaceOrErr(written, true, true)
	if err != nil {
		return "", fmt.Errorf("%s: %w", written, err)
	}
	return value, nil
}

// run signs in.
func (s *signIn) run(ctx context.Context) (*login.Session, error) {
	session, err := s.plan.SignIn(ctx, s.ask, fill)
	if err != nil {
		s.h.log.Error("the gateway could not sign in to the API", "error", err)
	} else {
		s.h.log.Info("the gateway signed in to the API")
	}
	return session, err
}

// ask sends the request of a step.
func (s *signIn) ask(ctx context.Context, r *http.Request) (a login.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so too
				s.h.log.Error("the request of a sign-in panicked", "panic", p, "stack", string(debug.Stack()))
			}
			err = broken(errBroken)
		}
	}()
	body, err := io.ReadAll(r.Body) // our own
	if err != nil {
		return a, err
	}
	rec := &recorder{header: make(http.Header), limit: login.MaxAnswer}
	up := resource.Upstream{Method: r.Method, Path: r.URL.EscapedPath(), RawQuery: r.URL.RawQuery, Set: r.Header, Body: body, Replaced: true}
	q := request(ctx, rec, nil, up)
	q.RequestURI = up.Path // proxies log it, and the query may have a token
	if err := s.to.ServeHTTP(rec, q); err != nil {
		return a, err
	}
	got := rec.reply()
	return login.Answer{Status: got.Status, Header: got.Header, Body: got.Body, Cut: got.Cut}, nil
}

// session is the one to use instead of stale, which may be nil.
func (s *signIn) session(ctx context.Context, w http.ResponseWriter, stale *login.Session) (*login.Session, error) {
	session, err := s.keeper.Session(ctx, stale, s.run)
	var failed *login.Error
	switch {
	case err == nil || errors.Is(err, login.ErrFresh):
		return session, err
	case errors.As(err, &failed) && failed.Refused:
		return nil, gateway.Fail(http.StatusBadGateway, "upstream_auth_failed", "the service behind the gateway refused the gateway's credentials", notSignedIn{err})
	case errors.As(err, &failed) && gateway.StatusOf(failed.Unwrap()) == http.StatusGatewayTimeout:
		return nil, gateway.Fail(http.StatusGatewayTimeout, "", "", notSignedIn{err})
	case errors.As(err, &failed):
		return nil, gateway.Fail(http.StatusBadGateway, "", "", notSignedIn{err})
	}
	w.Header().Set("Retry-After", "1")
	return nil, gateway.Fail(http.StatusServiceUnavailable, "", "", notSignedIn{err})
}

// notSignedIn is for a request that was not sent, since there was no session for it.
type notSignedIn struct{ error }

func (n notSignedIn) Unwrap() error { return n.error }

// serve sends a request with the session, and once more with a new one where the answer says
// that it was not carried out for want of one. r is given without the session.
func (s *signIn) serve(w http.ResponseWriter, r *http.Request, via *supplied) error {
	session, err := s.session(r.Context(), w, nil)
	if err != nil {
		return err
	}
	again, replayable := s.replay(r)
	first, over, err := s.try(w, again(), session, via)
	if !over {
		s.tell(r, first)
		return err
	}
	renewed, err := s.session(r.Context(), w, session)
	switch {
	case errors.Is(err, login.ErrFresh):
		s.tellRefused(r, first)
		return first.pass() // the client is told what the API says
	case err != nil:
		return err
	case !replayable:
		w.Header().Set("Retry-After", "1")
		return gateway.Fail(http.StatusServiceUnavailable, "", "", errors.New("the session at the API was over, and the body of the request cannot be sent again"))
	}
	second, over, err := s.try(w, again(), renewed, via)
	s.keeper.Helped(renewed, !over)
	if over {
		s.tellRefused(r, second)
		return second.pass()
	}
	s.tell(r, second)
	return err
}

// tell writes to the log of an answer that the client gets as a 502, although it came with a session.
func (s *signIn) tell(r *http.Request, p *probe) {
	if p != nil && p.status == http.StatusUnauthorized {
		s.tellRefused(r, p)
	}
}

// tellRefused writes to the log of a request that the API refused although the gateway is signed in. Often
// the API wants more of it than the session, such as a Host or Origin of its own.
func (s *signIn) tellRefused(r *http.Request, p *probe) {
	s.h.log.Warn("the API refused a request with the session that it gave to the gateway", "status", p.status, "method", r.Method, "path", r.URL.Path, "host", r.Host)
}

// replay gives copies of a request to send, each with the whole body. It reports false for a
// body that can be sent only once.
func (s *signIn) replay(r *http.Request) (again func() *http.Request, replayable bool) {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return func() *http.Request { return own(r) }, true
	}
	if r.ContentLength < 0 || r.ContentLength > s.h.replayMost() {
		return func() *http.Request { return own(r) }, false
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, r.ContentLength))
	return func() *http.Request {
		q := own(r)
		q.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
		return q
	}, true
}

// replayMost bounds the bodies that are kept to be sent again: all that the gateway has written
// itself, which is bounded by max_body.
func (h *REST) replayMost() int64 { return 17*h.MaxBody + 1<<20 }

// failing is the end of a body that broke off.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

// try sends a request with a session. over says that the answer is held, and that the session is
// over by what it says.
func (s *signIn) try(w http.ResponseWriter, q *http.Request, session *login.Session, via *supplied) (p *probe, over bool, err error) {
	for _, secret := range session.Secrets {
		via.hide(secret)
	}
	delete(q.Header, "Cookie")
	if s.plan.Reads() {
		q.Header.Set("Accept-Encoding", "identity")
	}
	if err := session.Apply(q, via.as); err != nil {
		return nil, false, gateway.Fail(http.StatusBadRequest, "", "the body could not be read", err)
	}
	p = &probe{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, plan: s.plan, before: w.Header().Clone()}
	if err := via.to.ServeHTTP(p, q); err != nil {
		return p, false, err
	}
	return p, p.ended(), nil
}
