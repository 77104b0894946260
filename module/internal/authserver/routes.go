package authserver

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
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

// table lists every path of the server, relative to the host.
func (s *Server) table() map[string]route {
	get, both, post := []string{"GET", "HEAD"}, []string{"GET", "POST"}, []string{"POST"}
	pages := func(methods []string, onGet, onPost page.Handler) route {
		return route{methods: methods, handle: s.page.Handle(onGet, onPost), page: true}
	}
	script := func(name string) route { return route{methods: get, handle: s.page.Script(name), always: true} }
	metadata := route{methods: get, handle: s.discovery.ServeMetadata, public: true}
	b := s.signIn
	all := map[string]route{
		s.base + page.AuthorizePath:               pages([]string{"GET", "HEAD", "POST"}, b.authorizeGet, b.authorizePost),
		s.base + page.LoginPath:                   pages(both, b.loginGet, b.loginPost),
		s.base + page.ConsentPath:                 pages(both, b.consentGet, b.consentPost),
		s.base + page.LogoutPath:                  pages(both, b.logoutGet, b.logoutPost),
		s.base + page.AccountPath:                 pages(both, b.accountGet, b.accountPost),
		s.base + page.LanguagePath:                pages(post, nil, b.languagePost),
		s.base + page.ConnectAuthorizePath:        pages(get, b.connectAuthorizeGet, nil),
		s.base + page.QRPath:                      pages(get, b.qrGet, nil),
		s.base + page.QRPollPath:                  {methods: get[:1], handle: b.poll, plaintext: refusePlaintextPoll, always: true},
		s.base + page.QRImages:                    pages(get, b.qrImageGet, nil),
		s.base + page.ConfirmPath:                 pages(both, b.confirmGet, b.confirmPost),
		s.base + page.DevicePath:                  pages(both, b.deviceGet, b.devicePost),
		s.base + page.TimesScript:                 script("times.js"),
		s.base + page.WaitScript:                  script("wait.js"),
		s.base + page.LoginScript:                 script("login.js"),
		s.base + "/token":                         {methods: post, handle: s.forClients(s.token, "resource"), scripts: true},
		s.base + "/revoke":                        {methods: post, handle: s.forClients(s.revoke), scripts: true},
		s.base + "/par":                           {methods: post, handle: s.forClients(s.par, "resource"), scripts: true},
		s.base + "/device_authorization":          {methods: post, handle: s.forClients(s.device, "resource"), scripts: true, anonymous: true},
		s.base + "/introspect":                    {methods: post, handle: s.forClients(s.introspect)},
		s.base + "/.well-known/jwks.json":         {methods: get, handle: s.discovery.ServeKeys, public: true},
		s.base + "/userinfo":                      {methods: both, handle: s.userinfo.ServeHTTP, scripts: true},
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
		// A page that registers its own client has an origin that nobody knows yet. The token
		// in the Authorization header decides, which no browser adds by itself.
		all[s.base+"/register"] = route{methods: post, handle: s.register.Register, anonymous: true, public: true}
		all[s.base+"/register/"] = route{methods: []string{"GET", "PUT", "DELETE"}, handle: s.manageClient, anonymous: true, public: true}
	}
	return all
}

// manageClient is the client configuration endpoint (RFC 7592).
func (s *Server) manageClient(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		s.register.Show(w, r)
	case http.MethodPut:
		s.register.Update(w, r)
	case http.MethodDelete:
		s.register.Delete(w, r)
	}
}

// route finds the route of a path: its own, or that of the folder right above it, whose
// name ends in a slash.
func (s *Server) route(path string) (route, bool) {
	rt, ok := s.routes[path]
	if !ok {
		rt, ok = s.routes[path[:strings.LastIndexByte(path, '/')+1]]
	}
	return rt, ok
}

// Serves reports whether a request path is the server's to answer; others may be left to
// somebody else.
func (s *Server) Serves(path string) bool { return s.own.Has(path) }

// ServeHTTP answers every request itself: it never leaves an error to somebody who
// would log the address, where codes and state travel.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	s.limitBody(w, r)
	rt, ok := s.route(r.URL.Path)
	if !ok && s.isHome(r) {
		s.page.Handle(s.signIn.homeGet, nil)(w, r.WithContext(store.OneRequest(r.Context())))
		return
	}
	if !ok {
		s.NotFound(w, r)
		return
	}
	if s.preflight(w, r, rt) {
		return
	}
	if rt.methods != nil && !slices.Contains(rt.methods, r.Method) {
		h.Set("Allow", strings.Join(rt.methods, ", "))
		if rt.page {
			s.page.Error(w, r, http.StatusMethodNotAllowed, webui.ErrorView{Code: "method_not_allowed"})
			return
		}
		s.respond.WriteError(w, oauth.E(oauth.InvalidRequest, "this address answers "+strings.Join(rt.methods, " and ")+" only").WithStatus(http.StatusMethodNotAllowed))
		return
	}
	r = r.WithContext(store.OneRequest(r.Context()))
	rt.handle(w, r)
}

// limitBody bounds a request's body, also of requests that are refused without reading it.
func (s *Server) limitBody(w http.ResponseWriter, r *http.Request) {
	if err := httpx.LimitBody(w, r, maxBody, bodyTime); err != nil {
		s.noDeadline.Do(func() {
			s.Log.Warn("request bodies have no time limit: a handler in front hides the connection", slog.Any("cause", err))
		})
	}
}
