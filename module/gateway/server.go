package gateway

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/accesslog"
	"github.com/gatehouse/gatehouse/module/internal/admission"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/servers"
)

func init() { caddy.RegisterModule(new(Server)) }

// Server is the handler `oauth_server`: the authorization server's endpoints and
// pages, on whatever site it stands in. Nothing of the request's host enters an answer.
// Requests for other paths go to the next handler, and are answered with 404 where none
// follows. If the issuer has a path, all requests below it stay here, and if it is https, so do
// all that come without TLS: they are refused.
type Server struct {
	// Where the handler is written, such as `Caddyfile:7`; the Caddyfile sets it. There may
	// be one site with `oauth_server`: in several servers its handlers have the same source.
	// Errors name it. Default: unknown, and sites of the same hosts are one.
	Source string `json:"source,omitempty"`

	app     *App
	answers *handler.UpstreamAnswers
	access  *accesslog.Log
	log     *slog.Logger
}

// CaddyModule returns the Caddy module information.
func (*Server) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.oauth_server", New: func() caddy.Module { return new(Server) }}
}

// Provision finds the app.
func (s *Server) Provision(ctx caddy.Context) (err error) {
	s.access, s.log = accesslog.New(ctx), ctx.Slogger()
	if s.app, err = FindApp(ctx, "oauth_server"); err != nil {
		return err
	}
	if err := s.app.servers.AddIssuer(ctx); err != nil {
		return err
	}
	if s.app.servers.HasIssuer() {
		s.app.clients.Complete = true
	}
	s.answers = handler.NewUpstreamAnswers(s.log, s.app.issuer.String())
	// Apps are stopped in no fixed order, and the one that serves waits for its requests
	// when the process ends: polls that hang must know by then.
	if server := servers.Of(ctx); server != nil {
		server.RegisterOnShutdown(s.app.tickets.Close)
	}
	return nil
}

// ServeHTTP answers what is the issuer's, errors included: an error that is
// returned would be logged by Caddy with the request's address, where codes and states
// travel. For the same reason the line in the access log is written here, redacted.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	plaintext := s.app.issuer.Scheme == "https" && r.TLS == nil && !behindTLS(r)
	if !plaintext && !s.app.server.Serves(r.URL.Path) && !s.app.ownResource.asked(r) {
		if answered, err := s.pass(w, r, next); answered || err != nil {
			return err
		}
	}
	handler.CloseWhenExiting(w, r)
	if retryAfter, ok := s.admit(r); !ok {
		accesslog.Skip(r) // the line would cost more than the answer
		handler.KeepAnswer(r)
		s.app.server.Overloaded(w, r, retryAfter)
		return nil
	}
	caddyhttp.SetVar(r.Context(), "unhandled", false) // Caddy's handler at the end of the chain may have said so
	entry := s.access.Start(w, r)
	defer entry.End(nil)
	defer s.recovered(entry.Writer)
	w = entry.Writer
	handler.OwnAnswer(w)
	handler.KeepAnswer(r)
	leave, err := s.app.lease.Enter()
	if err != nil {
		handler.LeaveBody(w, r)
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		return nil
	}
	defer leave()
	if plaintext {
		s.app.server.RefusePlaintext(w, r)
		return nil
	}
	if s.app.ownResource.publish(w, r) {
		return nil
	}
	s.app.server.ServeHTTP(w, s.app.trail.WithFacts(r))
	return nil
}

// admit admits a request under overload, or returns for how many seconds it is refused.
func (s *Server) admit(r *http.Request) (retryAfter int, ok bool) {
	if s.app.server.AlwaysAdmitted(r) {
		return 0, true
	}
	class, connection := admission.Anonymous, r.RemoteAddr
	if s.app.server.ShowsCredentials(r) {
		class = admission.Client
	}
	if proxy, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); proxy {
		connection = "" // the next request on it is somebody else's
	}
	return s.app.shedder.AdmitOrHold(r.Context(), class, connection)
}

// pass gives a request to the next handler, without the gateway's cookies, and reports
// whether anybody answered. Caddy's handler at the end of a chain writes nothing, which
// would become an empty 200.
func (s *Server) pass(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) (answered bool, err error) {
	asked, sent := *r.URL, r.Header // a handler may rewrite it, also to an endpoint, and then not answer
	r.Header = sent.Clone()
	guard.StripCookies(r.Header)
	answer := s.answers.From(w, nil)
	r.Body = httpx.Unclosed(r)
	err = next.ServeHTTP(answer, r)
	answer.Finish()
	if !answer.Written() && err == nil {
		*r.URL, r.Header = asked, sent // our page knows who is signed in, and the language
	}
	return answer.Written(), err
}

// recovered answers for a handler that panicked. net/http would log the value, which may
// hold anything that was being worked with.
func (s *Server) recovered(w caddyhttp.ResponseRecorder) {
	v := recover()
	switch {
	case v == nil:
		return
	case v == http.ErrAbortHandler: //nolint:errorlint // net/http compares so too
		panic(v)
	}
	s.log.Error("the authorization server panicked", "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
	if w.Status() != 0 {
		panic(http.ErrAbortHandler) // half an answer must not look like a whole one
	}
	w.WriteHeader(http.StatusInternalServerError)
}

// behindTLS reports whether a trusted proxy in front says that it ended TLS. Caddy
// removes the field from requests of peers that are not trusted when it proxies, but
// not before, so trust is asked for here.
func behindTLS(r *http.Request) bool {
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	return trusted && r.Header.Get("X-Forwarded-Proto") == "https"
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Server)(nil)
	_ caddyhttp.MiddlewareHandler = (*Server)(nil)
)
