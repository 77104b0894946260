package authserver

import (
	"context"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/authserver/clientauth"
	"github.com/gatehouse/gatehouse/module/internal/authserver/deviceauthz"
	"github.com/gatehouse/gatehouse/module/internal/authserver/discovery"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/introspection"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/pushed"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/registration"
	"github.com/gatehouse/gatehouse/module/internal/authserver/revocation"
	"github.com/gatehouse/gatehouse/module/internal/authserver/tokenendpoint"
	"github.com/gatehouse/gatehouse/module/internal/authserver/userinfo"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// endpoints are what programs call.
type endpoints struct {
	clientAuth *clientauth.Authenticator
	families   *grant.Families

	token      *tokenendpoint.Endpoint
	revoke     *revocation.Endpoint
	introspect *introspection.Endpoint
	userinfo   *userinfo.Endpoint
	par        *pushed.Endpoint
	device     *deviceauthz.Endpoint
	register   *registration.Endpoint // nil when clients cannot register themselves
	discovery  *discovery.Documents
}

// clientEndpoints are the addresses at which clients authenticate.
func (s *Server) clientEndpoints() (urls []string) {
	for _, path := range []string{"/token", "/revoke", "/introspect", "/par", "/device_authorization"} {
		urls = append(urls, strings.TrimSuffix(s.issuer, "/")+path)
	}
	return urls
}

// newEndpoints makes the endpoints of a server whose configuration is checked.
func newEndpoints(s *Server) (e endpoints, err error) {
	e.clientAuth = &clientauth.Authenticator{
		FindClient: s.Clients.Client, Attempts: s.Attempts, Failures: s.Protect.ClientFailures, ClientIP: s.ClientIP,
		Store: s.Store, Audience: []string{s.issuer}, Endpoints: s.clientEndpoints(), Audit: s.Audit, Unknown: s.unknownClient, Now: s.Now,
	}
	e.families, err = grant.NewFamilies(grant.Config{
		Store: s.Store, Directory: s.Directory, Revocations: s.Revocations, Keys: s.Keys, Now: s.Now,
		Passwords: s.passwords, Tickets: s.CrossDevice, Audit: s.Audit,
		Evicted: s.Metrics.GrantEvicted, PerPair: s.GrantsPerUser,
		Access: s.Lifetimes.Access, Refresh: s.Lifetimes.Refresh,
		RefreshIdle: s.Lifetimes.RefreshIdle, RefreshGrace: s.Lifetimes.RefreshGrace,
	})
	if err != nil {
		return e, err
	}
	e.token = &tokenendpoint.Endpoint{
		Grants: grant.All(e.families), GrantTypes: s.grantRules, Audiences: s.audiences, Users: s.Directory, Tokens: s.Tokens,
		Count: s.Metrics.TokenRequest, Audit: s.Audit, Respond: s.respond, Access: s.Lifetimes.Access,
		ClientIP: s.ClientIP, Now: s.Now,
	}
	e.revoke = &revocation.Endpoint{
		Issuer: s.issuer, Families: e.families, Verify: s.Issued.Verify, Revocations: s.Revocations,
		Attempts: s.Attempts, Count: s.Metrics.Revocation, Audit: s.Audit, Respond: s.respond, Now: s.Now,
	}
	e.introspect = &introspection.Endpoint{
		Issuer: s.issuer, Audiences: s.audiences, Families: e.families, Verify: s.Verifier.Verify,
		FindClient: s.Clients.Client, Users: s.Directory, Store: s.Store, Attempts: s.Attempts,
		Guesses: s.Protect.ClientFailures, Count: s.Metrics.Introspection, Respond: s.respond, ClientIP: s.ClientIP,
	}
	e.userinfo = &userinfo.Endpoint{
		Issuer: s.issuer, Verify: s.Verifier.Verify, FindClient: s.Clients.Client, Users: s.Directory,
		SignClaims: s.Tokens.SignClaims, Respond: s.respond,
	}
	e.par = &pushed.Endpoint{
		Check: func(ctx context.Context, p query.Params) error { return s.authorize.CheckPushed(ctx, p) },
		Store: s.Store, Attempts: s.Attempts, Form: s.Lifetimes.Request,
		Respond: s.respond, ClientIP: s.ClientIP, Now: s.Now,
	}
	e.device = &deviceauthz.Endpoint{
		GrantTypes: s.grantRules, Audiences: s.audiences, Tickets: s.CrossDevice, EntryPage: s.url(page.DevicePath),
		Attempts: s.Attempts, Respond: s.respond, ClientIP: s.ClientIP,
	}
	if s.Registration != nil {
		e.register = &registration.Endpoint{
			Rules: *s.Registration, Registrar: s.Registrar, IDAlgorithms: s.Tokens.IDAlgorithms(), Address: s.url("/register"),
			Attempts: s.Attempts, Guesses: s.Protect.ClientFailures, ClientIP: s.ClientIP,
			Audit: s.Audit, Log: s.Log, Respond: s.respond, Now: s.Now,
		}
	}
	e.discovery, err = newDiscovery(s, e.token.Types())
	return e, err
}

func newDiscovery(s *Server, types []oauth.GrantType) (*discovery.Documents, error) {
	var scopes []string
	for _, scope := range s.Scopes {
		if !scope.Hidden {
			scopes = append(scopes, scope.Name)
		}
	}
	return discovery.New(discovery.Config{
		Issuer: s.issuer, Scopes: scopes, GrantTypes: types, IDAlgorithms: s.Tokens.IDAlgorithms(), Languages: s.Pages.Languages(),
		Registration: s.Registration != nil, OptionalGrants: s.Clients.OptionalGrants, PublicKeys: s.Tokens.PublicKeys, Respond: s.respond,
	})
}
