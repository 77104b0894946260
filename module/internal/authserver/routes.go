package authserver

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/qrlogin"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// LanguagePath is where the pages send the choice of a language, below the issuer.
const LanguagePath = page.LanguagePath

// maxBody is the largest request body, in bytes. The forms of these endpoints are a
// few kilobytes; without a cap one request could fill the memory.
const maxBody = 64 << 10

// bodyTime is how long a request body may take from the first byte to the last. With
// maxBody bytes at most, it is a minimum rate too.
const bodyTime = 10 * time.Second

// route is a row of the table: a path of the server, and what happens before and around its
// handler. For every path, no-store is set (a handler may permit caching), the body is limited to
// maxBody and bodyTime, and other methods are refused.
type route struct {
	methods []string // nil: the handler answers all methods

	// One of these three answers.

	handle   http.HandlerFunc
	byMethod map[string]http.HandlerFunc
	// client is called with the form of an authenticated client.
	client clientEndpoint

	// repeatable are the parameters that a client's form may have several times.
	repeatable []string
	cors       cors
	// page says that refusals are HTML pages, not JSON.
	page bool
	// forClients are the methods with which a browser may come that a client has sent, so that the client's window must hear
	// of the outcome. Package login finds out which of its forms are for another page.
	forClients []string
	// plaintext refuses a request without TLS. nil: a page or a JSON error of OAuth.
	plaintext http.HandlerFunc
	// overloaded refuses a request when there are too many. nil: a page or a JSON error.
	overloaded http.HandlerFunc
	// anonymous requests carry no credentials, except in the Authorization header.
	anonymous bool
	// always: requests are answered under overload too. They cost no more than a refusal, and
	// those that wait are limited in number.
	always bool
}

// clientEndpoint answers forms of authenticated clients.
type clientEndpoint interface {
	Serve(w http.ResponseWriter, r *http.Request, client *oauth.Client, form httpx.Form)
	// Refuse answers a form that could not be read (it is empty then), or whose client is not authenticated.
	Refuse(w http.ResponseWriter, r *http.Request, form httpx.Form, err error)
}

// table lists every path of the server, relative to the host. A path that ends in a slash stands
// for all paths right below it.
func (s *Server) table() map[string]route {
	get, both, post, every := []string{"GET", "HEAD"}, []string{"GET", "POST"}, []string{"POST"}, []string{"GET", "HEAD", "POST"}
	resource := []string{"resource"} // RFC 8707 section 2 lets it come several times
	pages := func(methods, forClients []string, onGet, onPost page.Handler) route {
		return route{methods: methods, handle: s.page.Handle(onGet, onPost), page: true, forClients: forClients}
	}
	script := func(name string) route { return route{methods: get, handle: s.page.Script(name), always: true} }
	metadata := route{methods: get, handle: s.discovery.ServeMetadata, cors: everyOrigin}
	all := map[string]route{
		s.base + page.AuthorizePath:               pages(every, every, s.authorize.Get, s.authorize.Post),
		s.base + page.LoginPath:                   pages(both, post, s.login.Get, s.login.Post),
		s.base + page.ConsentPath:                 pages(both, both, s.authorize.GetConsent, s.authorize.PostConsent),
		s.base + page.LogoutPath:                  pages(both, both, s.logout.Get, s.logout.Post),
		s.base + page.AccountPath:                 pages(both, nil, s.account.Get, s.account.Post),
		s.base + page.LanguagePath:                pages(post, post, nil, s.login.ChooseLanguage),
		s.base + page.ConnectAuthorizePath:        pages(get, get, s.authorize.ConnectGet, nil),
		s.base + page.QRPath:                      pages(get, get, s.qrlogin.Get, nil),
		s.base + page.QRPollPath:                  {methods: get[:1], handle: s.qrlogin.Poll, plaintext: qrlogin.RefusePlaintext, always: true},
		s.base + page.QRImages:                    pages(get, nil, s.qrlogin.GetImage, nil),
		s.base + page.ConfirmPath:                 pages(both, nil, s.confirm.Get, s.confirm.Post),
		s.base + page.DevicePath:                  pages(both, nil, s.confirm.GetCode, s.confirm.PostCode),
		s.base + page.TimesScript:                 script("times.js"),
		s.base + page.WaitScript:                  script("wait.js"),
		s.base + page.LoginScript:                 script("login.js"),
		s.base + "/token":                         {methods: post, client: s.token, repeatable: resource, cors: registeredOrigins},
		s.base + "/revoke":                        {methods: post, client: s.revoke, cors: registeredOrigins},
		s.base + "/par":                           {methods: post, client: s.par, repeatable: resource, cors: registeredOrigins},
		s.base + "/device_authorization":          {methods: post, client: s.device, repeatable: resource, cors: registeredOrigins, anonymous: true},
		s.base + "/introspect":                    {methods: post, client: s.introspect},
		s.base + "/.well-known/jwks.json":         {methods: get, handle: s.discovery.ServeKeys, cors: everyOrigin},
		s.base + "/userinfo":                      {methods: both, handle: s.userinfo.ServeHTTP, cors: registeredOrigins},
		s.wellKnown("oauth-authorization-server"): metadata,
		// OpenID Connect Discovery section 4 appends where RFC 8414 inserts.
		s.base + "/.well-known/openid-configuration": metadata,
	}
	for path, handle := range map[string]http.HandlerFunc{
		"/sns/oauth2/access_token": s.variantB.AccessToken, "/sns/oauth2/refresh_token": s.variantB.RefreshToken,
		"/sns/auth": s.variantB.Auth, "/sns/userinfo": s.variantB.Userinfo,
	} {
		all[s.base+path] = route{handle: handle, plaintext: s.variantB.RefusePlaintext, overloaded: s.variantB.Overloaded}
	}
	if s.Registration != nil {
		// A page that registers its own client has an origin that is not known yet. What decides
		// is the token in the Authorization header, which no browser adds by itself.
		all[s.base+"/register"] = route{methods: post, handle: s.register.Register, anonymous: true, cors: everyOrigin}
		all[s.base+"/register/"] = route{methods: []string{"GET", "PUT", "DELETE"}, byMethod: map[string]http.HandlerFunc{
			"GET": s.register.Show, "PUT": s.register.Update, "DELETE": s.register.Delete,
		}, anonymous: true, cors: everyOrigin}
	}
	return all
}

// isHome reports whether a path is the issuer's own address, which is no endpoint: whatever else is
// served on the host may have it.
func (s *Server) isHome(r *http.Request) bool {
	return (r.URL.Path == s.base || r.URL.Path == s.base+"/") && slices.Contains([]string{http.MethodGet, http.MethodHead}, r.Method)
}

// isPage reports whether a path is a page that a GET shows.
func (s *Server) isPage(path string) bool {
	rt, ok := s.routes[path]
	return ok && rt.page && slices.Contains(rt.methods, http.MethodGet)
}

// isForClients reports whether a client may have sent the browser to a page.
func (s *Server) isForClients(path string) bool {
	return slices.Contains(s.routes[path].forClients, http.MethodGet)
}

// findRoute finds the route of a path: its own, or that of the folder right above it.
func (s *Server) findRoute(path string) (route, bool) {
	rt, ok := s.routes[path]
	if !ok {
		rt, ok = s.routes[path[:strings.LastIndexByte(path, '/')+1]]
	}
	return rt, ok
}

// begin finds the route of a request, sets the header fields that all its responses have, and limits its body.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) (route, bool) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	s.limitBody(w, r)
	rt, ok := s.findRoute(r.URL.Path)
	switch {
	case slices.Contains(rt.forClients, r.Method):
		webui.KeepOpener(h)
	case !ok || rt.page:
		webui.CutOpener(h)
	}
	return rt, ok
}

// Serves reports whether a request path is the server's to answer. Other paths may be left to the next handler.
func (s *Server) Serves(path string) bool { return s.own.Has(path) }

// ServeHTTP answers every request itself: it never leaves an error to a handler that would log
// the address, which may contain codes and state.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	rt, ok := s.begin(w, r)
	if !ok && s.isHome(r) {
		s.page.Handle(s.account.Home, nil)(w, r.WithContext(store.OneRequest(r.Context())))
		return
	}
	if !ok {
		s.notFound(w, r)
		return
	}
	if s.answerCORS(w, r, rt) {
		return
	}
	if rt.methods != nil && !slices.Contains(rt.methods, r.Method) {
		h.Set("Allow", strings.Join(rt.methods, ", "))
		if rt.page {
			s.page.Error(w, r, http.StatusMethodNotAllowed, webui.ErrorView{Code: "method_not_allowed"})
			return
		}
		s.respond.WriteError(w, r, oauth.E(oauth.InvalidRequest, "this address answers "+strings.Join(rt.methods, " and ")+" only").WithStatus(http.StatusMethodNotAllowed))
		return
	}
	if rt.page && isSpeculative(r) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	r = r.WithContext(store.OneRequest(r.Context()))
	switch {
	case rt.client != nil:
		s.serveClient(w, r, rt)
	case rt.byMethod != nil:
		rt.byMethod[r.Method](w, r)
	default:
		rt.handle(w, r)
	}
}

// serveClient reads the form of a client and authenticates the client.
func (s *Server) serveClient(w http.ResponseWriter, r *http.Request, rt route) {
	form, err := oauthhttp.ReadForm(r, rt.repeatable...)
	if err != nil {
		rt.client.Refuse(w, r, form, err)
		return
	}
	client, err := s.clientAuth.Authenticate(r, form, w.Header())
	if err != nil {
		rt.client.Refuse(w, r, form, err)
		return
	}
	rt.client.Serve(w, r, client, form)
}

// limitBody limits a request's body, even if the request is refused without reading it.
func (s *Server) limitBody(w http.ResponseWriter, r *http.Request) {
	if err := httpx.LimitBody(w, r, maxBody, bodyTime, s.FullDuplex(r)); err != nil {
		s.noDeadline.Do(func() {
			s.Log.Warn("request bodies have no time limit: a handler in front hides the connection", slog.Any("cause", err))
		})
	}
}
