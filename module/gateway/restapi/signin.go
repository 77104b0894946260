package restapi

import (
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

	"github.com/gatehouse/gatehouse/module/internal/rest/conceal"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// keepers are the sessions at upstreams, by a digest of what they were made from: a reload that
// changes nothing of that goes on with the session, and with the back-off.
var keepers = caddy.NewUsagePool()

type pooledKeeper struct{ *login.Keeper }

// Destruct implements caddy.Destructor.
func (pooledKeeper) Destruct() error { return nil }

// signIn is the gateway's own sign-in at an edition's upstream.
type signIn struct {
	h        *REST
	declared *login.Config
	plan     *login.Plan
	keeper   *login.Keeper
	pooled   string // the key of keeper in keepers
	to       route
	fields   []supply.Param // header fields that go with each step, with placeholders
	// reveals is that of the edition, withhold the fields of answers that may have a session.
	reveals  bool
	withhold []string
	bodies   *request.Replayer
}

// newSignIn compiles one. from identifies the upstream: two of them never share a session.
func (h *REST) newSignIn(c *login.Config, to route, reveals bool, from []byte) (*signIn, error) {
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
	s := &signIn{h: h, declared: c, plan: plan, to: to, fields: h.signInFields(), reveals: reveals, withhold: c.AnswerFields(), bodies: request.NewReplayer(h.MaxBody)}
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
	for _, p := range s.fields {
		value, err := fill(p.Value)
		_, _ = fmt.Fprintf(sum, " %q %q %t", p.Name, value, err == nil)
	}
	s.pooled = string(sum.Sum(nil))
	pooled, _, err := keepers.LoadOrNew(s.pooled, func() (caddy.Destructor, error) { return pooledKeeper{login.NewKeeper(time.Now)}, nil })
	if err != nil {
		return nil, err
	}
	s.keeper = pooled.(pooledKeeper).Keeper
	return s, nil
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
			err = operation.BrokenOff(operation.ErrBrokenOff)
		}
	}()
	body, err := io.ReadAll(r.Body) // our own
	if err != nil {
		return a, err
	}
	if err := s.addFields(r.Header); err != nil {
		return a, err
	}
	rec := responsewriter.NewRecorder(login.MaxAnswer)
	hidden := conceal.New(s.reveals, nil, func(string) bool { return true }) // the proxy need not know any field
	up := mapping.Upstream{Method: r.Method, Path: r.URL.EscapedPath(), RawQuery: r.URL.RawQuery, Set: r.Header, Body: body, Replaced: true}
	if hidden != nil {
		hidden.SetQuery(up.RawQuery)
		up.RawQuery = ""
		for name := range r.Header {
			if !plainFields[name] {
				hidden.TakeField(r.Header, name)
			}
		}
	}
	q := upstreamRequest(ctx, rec, nil, up)
	q.RequestURI = up.Path // proxies log it, and the query may have a token
	if err := s.to.ServeHTTP(rec, hidden.Request(q)); err != nil {
		return a, err
	}
	hidden.Restore(rec.Header())
	got := rec.Reply()
	return login.Answer{Status: got.Status, Header: got.Header, Body: got.Body, Cut: got.Cut}, nil
}

// plainFields are those of a sign-in's request that have nothing of a session.
var plainFields = map[string]bool{"Accept": true, "Accept-Encoding": true, "Content-Length": true, "Content-Type": true}

// session is the one to use instead of stale, which may be nil.
func (s *signIn) session(ctx context.Context, w http.ResponseWriter, stale *login.Session) (*login.Session, error) {
	session, err := s.keeper.Session(ctx, stale, s.run)
	var failed *login.Error
	switch {
	case err == nil || errors.Is(err, login.ErrFresh):
		return session, err
	case errors.As(err, &failed) && failed.Refused:
		return nil, envelope.Fail(http.StatusBadGateway, "upstream_auth_failed", "the service behind the gateway refused the gateway's credentials", notSignedIn{err})
	case errors.As(err, &failed) && statusOf(failed.Unwrap()) == http.StatusGatewayTimeout:
		return nil, envelope.Fail(http.StatusGatewayTimeout, "", "", notSignedIn{err})
	case errors.As(err, &failed):
		return nil, envelope.Fail(http.StatusBadGateway, "", "", notSignedIn{err})
	}
	return nil, busy(notSignedIn{err})
}

// busy refuses a request that may succeed when it is sent again.
func busy(cause error) *envelope.Refusal {
	return &envelope.Refusal{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"1"}}, Cause: cause}
}

// notSignedIn is for a request that was not sent, since there was no session for it.
type notSignedIn struct{ error }

func (n notSignedIn) Unwrap() error { return n.error }

// serve sends a request with the session, and once more with a new one where the answer says
// that it was not carried out for want of one. r is given without the session and without params,
// the parameters that all requests have.
func (s *signIn) serve(w http.ResponseWriter, r *http.Request, via *supplied, params []supply.Param) error {
	session, err := s.session(r.Context(), w, nil)
	if err != nil {
		return err
	}
	again, replayable, release := s.bodies.Replay(r, s.h.MaxBody)
	defer release()
	first, over, err := s.try(w, again(), session, via, params)
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
		return busy(errors.New("the session at the API was over, and the body of the request was not kept to be sent again"))
	}
	verdict := login.Unknown // also where the answer breaks off with a panic
	defer func() { s.keeper.Renewed(renewed, verdict) }()
	second, over, err := s.try(w, again(), renewed, via, params)
	if over {
		verdict = login.Refused
		s.tellRefused(r, second)
		return second.pass()
	}
	if err == nil && r.Context().Err() == nil { // a proxy answers a client that has gone with 499
		verdict = verdictOf(second.status)
	}
	s.tell(r, second)
	return err
}

// verdictOf is what the status of an answer that does not say that the session is over says of it.
func verdictOf(status int) login.Verdict {
	switch {
	case status < http.StatusOK, status >= http.StatusInternalServerError, status == http.StatusUnauthorized, status == http.StatusTooManyRequests:
		return login.Unknown
	}
	return login.Taken
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

// try sends a request with a session. over says that the answer is held, and that the session is
// over by what it says.
func (s *signIn) try(w http.ResponseWriter, q *http.Request, session *login.Session, via *supplied, params []supply.Param) (p *probe, over bool, err error) {
	for _, secret := range session.Secrets {
		via.hide(secret)
	}
	delete(q.Header, "Cookie")
	if s.plan.Reads() {
		q.Header.Set("Accept-Encoding", "identity")
	}
	hidden := conceal.New(s.reveals, s.withhold, via.secrets.In)
	if session.Cookie != "" {
		hidden.SetCookie(q, session.Cookie)
	}
	for _, params := range [][]supply.Param{params, session.Params} {
		if err := via.apply(q, hidden, params); err != nil {
			return nil, false, err
		}
	}
	p = &probe{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, plan: s.plan, before: w.Header().Clone(), hidden: hidden}
	if err := via.to.ServeHTTP(p, hidden.Request(q)); err != nil {
		return p, false, err
	}
	return p, p.ended(), nil
}
