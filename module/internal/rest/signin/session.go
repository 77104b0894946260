package signin

import (
	"context"
	"errors"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/conceal"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// session returns the session to use instead of stale, which may be nil.
func (s *SignIn) session(ctx context.Context, stale *login.Session) (*login.Session, error) {
	session, err := s.Keeper.Session(ctx, stale, s.signIn)
	var failed *login.Error
	switch {
	case err == nil || errors.Is(err, login.ErrFresh):
		return session, err
	case errors.As(err, &failed) && failed.Refused:
		return nil, envelope.Fail(http.StatusBadGateway, "upstream_auth_failed", "the service behind the gateway refused the gateway's credentials", notSent{err})
	case errors.As(err, &failed) && s.StatusOf(failed.Unwrap()) == http.StatusGatewayTimeout:
		return nil, envelope.Fail(http.StatusGatewayTimeout, "", "", notSent{err})
	case errors.As(err, &failed):
		return nil, envelope.Fail(http.StatusBadGateway, "", "", notSent{err})
	}
	return nil, retryLater(notSent{err})
}

// retryLater refuses a request that may succeed when it is sent again.
func retryLater(cause error) *envelope.Refusal {
	return &envelope.Refusal{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"1"}}, Cause: cause}
}

// Serve sends a request with the session, and once more with a new session if the answer says
// that the first one is over. r comes without the session and without params, the parameters
// that all requests have.
func (s *SignIn) Serve(w http.ResponseWriter, r *http.Request, via Sender, params []supply.Param) error {
	session, err := s.session(r.Context(), nil)
	if err != nil {
		return err
	}
	again, replayable, release := s.bodies.Replay(r, s.MaxBody, 0)
	defer release()
	first, over, err := s.sendWith(session, w, again(), via, params)
	if !over {
		s.noteUnauthorized(r, first)
		return err
	}
	renewed, err := s.session(r.Context(), session)
	switch {
	case errors.Is(err, login.ErrFresh):
		s.noteRefused(r, first)
		return first.passAnswer() // the client is told what the API says
	case err != nil:
		return err
	case !replayable:
		return retryLater(errors.New("the session at the API was over, and the body of the request was not kept to be sent again"))
	}
	verdict := login.Unknown // also where the answer breaks off with a panic
	defer func() { s.Keeper.Renewed(renewed, verdict) }()
	second, over, err := s.sendWith(renewed, w, again(), via, params)
	if over {
		verdict = login.Refused
		s.noteRefused(r, second)
		return second.passAnswer()
	}
	if err == nil && r.Context().Err() == nil { // a proxy answers a client that has gone with 499
		verdict = verdictOf(second.held.Status())
	}
	s.noteUnauthorized(r, second)
	return err
}

// verdictOf returns what the status of an answer says of the session, given that the answer does
// not say that the session is over.
func verdictOf(status int) login.Verdict {
	switch {
	case status < http.StatusOK, status >= http.StatusInternalServerError, status == http.StatusUnauthorized, status == http.StatusTooManyRequests:
		return login.Unknown
	}
	return login.Taken
}

// noteUnauthorized logs an answer that the client gets as a 502, although the request had a
// session.
func (s *SignIn) noteUnauthorized(r *http.Request, p *probe) {
	if p != nil && p.held.Status() == http.StatusUnauthorized {
		s.noteRefused(r, p)
	}
}

// noteRefused logs a request that the API refused although the gateway is signed in. Often the
// API expects more than the session, such as its own Host or Origin, or the address that signed in.
func (s *SignIn) noteRefused(r *http.Request, p *probe) {
	s.Log.Warn("the API refused a request with the session that it gave to the gateway: perhaps it accepts only its own Host, or a session only from the address (X-Forwarded-For) and with the User-Agent that it began with", "status", p.held.Status(), "method", r.Method, "path", r.URL.Path, "host", r.Host)
}

// sendWith sends a request with a session. over says that the answer is held, and that it says the
// session is over.
func (s *SignIn) sendWith(session *login.Session, w http.ResponseWriter, q *http.Request, via Sender, params []supply.Param) (p *probe, over bool, err error) {
	for _, secret := range session.Secrets {
		via.AddSecret(secret)
	}
	delete(q.Header, "Cookie")
	if err := supply.Apply(q, []supply.Param{userAgent}, ""); err != nil {
		return nil, false, err
	}
	if s.Plan.Reads() {
		q.Header.Set("Accept-Encoding", "identity")
	}
	concealed := conceal.New(s.Reveals, s.Withhold, via.IsSecret)
	if session.Cookie != "" {
		concealed.SetCookie(q, session.Cookie)
	}
	for _, params := range [][]supply.Param{params, session.Params} {
		if err := via.Apply(q, concealed, params); err != nil {
			return nil, false, err
		}
	}
	p = newProbe(w, s.Plan, concealed)
	if err := via.Send(p.held, concealed.Request(q)); err != nil {
		return p, false, err
	}
	return p, p.isOver(), nil
}
