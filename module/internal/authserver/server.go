package authserver

import (
	"net/http"
	"strings"
	"sync"

	"github.com/gatehouse/gatehouse/module/internal/authserver/account"
	"github.com/gatehouse/gatehouse/module/internal/authserver/audience"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/authserver/ownpaths"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/password"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/authserver/variantb"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Server serves the endpoints and pages of an issuer. It is safe for concurrent use. It has no
// goroutine of its own, except that one per kind of code runs while the store leaves open
// what became of an exchange, until the code has expired at the latest.
type Server struct {
	Config
	issuer string // as everywhere it is written
	base   string // its path, without trailing slash
	routes map[string]route
	own    ownpaths.Paths
	// Users ends what users have; the admin API calls it.
	*account.Users

	audiences  audience.Config
	grantRules grant.Rules
	respond    oauthhttp.Responder

	site      page.Site
	page      *page.Writer
	passwords *password.Checker
	endpoints
	browserEndpoints
	// variantB are the endpoints of that dialect.
	variantB *variantb.Endpoints

	overloaded overloaded
	noDeadline sync.Once // the warning about it
}

// New checks the configuration and returns the server.
func New(c Config) (*Server, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	s := &Server{Config: c, issuer: c.Issuer.String(), base: strings.TrimSuffix(c.Issuer.Path, "/")}
	s.audiences = audience.Config{Default: s.Audience, RegistrationOpen: s.Registration != nil}
	if s.Registration != nil {
		s.audiences.Registered = s.Registration.Audience
	}
	s.grantRules = grant.Rules{
		OptionalGrants: s.Clients.OptionalGrants, CountDeprecated: s.Metrics.DeprecatedGrant, Audit: s.Audit, Now: s.Now,
	}
	s.respond = oauthhttp.Responder{Log: s.Log}
	s.site = page.NewSite(c.Issuer)
	s.page = &page.Writer{Site: s.site, Pages: s.Pages, Log: s.Log, RequestID: s.RequestID}
	sessions := &session.Sessions{
		Writer: s.page, Store: s.Store, Directory: s.Directory, Keys: s.Keys, Clients: s.Clients, Attempts: s.Attempts,
		Audit: s.Audit, ClientIP: s.ClientIP, Now: s.Now, Life: s.Lifetimes.Session, Idle: s.Lifetimes.SessionIdle,
	}
	s.passwords = newPasswords(s, sessions)
	var err error
	if s.endpoints, err = newEndpoints(s); err != nil {
		return nil, err
	}
	if s.Users, err = newUsers(s); err != nil {
		return nil, err
	}
	s.browserEndpoints = newBrowserEndpoints(s, sessions)
	if s.variantB, err = newVariantB(s); err != nil {
		return nil, err
	}
	s.overloaded = newOverloaded(s.Pages)
	s.routes, s.own = s.table(), ownpaths.New(s.base, s.Registration != nil)
	return s, nil
}

// RefusePlaintext answers a request that came without TLS although the issuer is https: what it carries has been read
// by others on the way. People get a page, programs the errors of the endpoint they called.
func (s *Server) RefusePlaintext(w http.ResponseWriter, r *http.Request) {
	rt, ok := s.begin(w, r)
	switch {
	case !ok || rt.page:
		s.page.Error(w, r, http.StatusBadRequest, webui.ErrorView{Code: "plaintext"})
	case rt.plaintext != nil:
		rt.plaintext(w, r)
	default:
		s.respond.WriteError(w, r, oauth.E(oauth.InvalidRequest, "this address must be requested over https"))
	}
}

// url is the absolute address of one of our paths.
func (s *Server) url(path string) string {
	return strings.TrimSuffix(s.issuer, "/") + path
}

// wellKnown is where a metadata document lives: RFC 8414 section 3.1 inserts the
// well-known segment in front of the issuer's path.
func (s *Server) wellKnown(name string) string { return "/.well-known/" + name + s.base }
