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
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/internal/servers"
)

func init() { caddy.RegisterModule(new(Server)) }

// Server is the handler of the directive `oauth_server`: the authorization server's endpoints and pages. No
// response depends on the request's host. Requests for other paths go to the next handler, and
// get 404 if no handler answers. If the issuer has a path, all requests below it are answered
// here, and if it is https, requests without TLS are refused.
type Server struct {
	// Where the handler is configured, such as `Caddyfile:7`, for errors; the Caddyfile sets it.
	// Only one site may have `oauth_server`: handlers in several servers belong to one site if
	// they have the same source. Default: unknown, and sites of the same hosts are one.
	Source string `json:"source,omitempty"`

	app     *App
	answers *handler.UpstreamAnswers
	access  *accesslog.Log
	log     *slog.Logger
}

// CaddyModule returns the Caddy module information.
func (*Server) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_server", New: func() caddy.Module { return new(Server) }}
}

// Provision finds the app.
func (s *Server) Provision(ctx caddy.Context) (err error) {
	s.access, s.log = accesslog.New(ctx), ctx.Slogger()
	if s.app, err = FindApp(ctx, "oauth_server"); err != nil {
		return err
	}
	s.app.servers.WarnWithoutAddress(ctx)
	found, err := s.app.servers.AddIssuer(ctx)
	if err != nil {
		return err
	}
	s.app.clients.Complete = s.app.clients.Complete || found
	s.answers = handler.NewUpstreamAnswers(s.log, s.app.issuer.String())
	// Apps stop in no fixed order, and the HTTP app waits for its requests when the process
	// ends, so pending polls must end first.
	if server := servers.Of(ctx); server != nil {
		server.RegisterOnShutdown(s.app.tickets.Close)
	}
	return nil
}

// ServeHTTP answers requests to the issuer, errors included: Caddy would log a returned error
// with the request's address, which may contain codes and states. For the same reason it writes
// the line of the access log itself, redacted.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	plaintext := s.app.issuer.Scheme == "https" && r.TLS == nil && !behindTLS(r)
	if !plaintext && !s.app.server.Serves(r.URL.Path) && !s.app.ownResource.asked(r) {
		if answered, err := s.pass(w, r, next); answered || err != nil {
			return err
		}
	}
	handler.CloseWhenExiting(w, r)
	if o := handler.Observe(s.app.decisions, w, r); o != nil {
		o.Own(accesslog.RedactPath(r.URL.Path))
		w = o.Writer
		defer o.End(nil)
	}
	if retryAfter, ok := s.admit(r); !ok {
		accesslog.Skip(r) // the line would cost more than the response
		handler.KeepAnswer(r)
		metrics.Set{}.Failure(http.StatusServiceUnavailable)
		s.app.server.Overloaded(w, r, retryAfter)
		return nil
	}
	caddyhttp.SetVar(r.Context(), "unhandled", false) // Caddy's handler at the end of the chain may have set it
	entry := s.access.Start(w, r)
	defer entry.End(nil)
	defer func() { metrics.Set{}.Failure(entry.Writer.Status()) }()
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
	if httpx.IsEarly(r) { // browsers repeat it once the handshake is complete
		handler.LeaveBody(w, r)
		w.WriteHeader(http.StatusTooEarly)
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
// whether it was answered. Caddy's handler at the end of a chain writes nothing, which
// would become an empty 200.
func (s *Server) pass(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) (answered bool, err error) {
	asked, sent := *r.URL, r.Header // a handler may rewrite the URL, even to one of ours, and then not answer
	r.Header = sent.Clone()
	guard.StripCookies(r.Header)
	answer := s.answers.From(w, nil)
	r.Body = httpx.Unclosed(r)
	err = next.ServeHTTP(answer, r)
	answer.Finish()
	if !answer.Written() && err == nil {
		*r.URL, r.Header = asked, sent // our 404 page shows the user and the language
	}
	return answer.Written(), err
}

// recovered answers for a handler that panicked. net/http would log the value, which may
// contain secrets.
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
		panic(http.ErrAbortHandler) // half a response must not look complete
	}
	w.WriteHeader(http.StatusInternalServerError)
}

// behindTLS reports whether a trusted proxy says that it terminated TLS. Caddy removes the field
// from requests of untrusted peers only when it proxies them, so trust is checked here.
func behindTLS(r *http.Request) bool {
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	return trusted && r.Header.Get("X-Forwarded-Proto") == "https"
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Server)(nil)
	_ caddyhttp.MiddlewareHandler = (*Server)(nil)
)
