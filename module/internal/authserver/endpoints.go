package authserver

import (
	"context"

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

// newEndpoints makes the endpoints of a server whose configuration is checked.
func newEndpoints(s *Server) (e endpoints, err error) {
	e.clientAuth, err = clientauth.New(clientauth.Config{
		Clients: s.Clients, Attempts: s.Attempts, Failures: s.Protect.ClientFailures, ClientIP: s.ClientIP,
		Store: s.Store, Audience: []string{s.issuer}, Audit: s.Audit, Unknown: s.unknownClient, Now: s.Now,
	})
	if err != nil {
		return e, err
	}
	config := grant.Config{
		Store: s.Store, Directory: s.Directory, Revocations: s.Revocations, Keys: s.Keys, Now: s.Now,
		Passwords: s.passwords, Tickets: s.CrossDevice, Audit: s.Audit,
		Evicted: s.Metrics.GrantEvicted, PerPair: s.GrantsPerUser,
		Access: s.Lifetimes.Access, Refresh: s.Lifetimes.Refresh,
		RefreshIdle: s.Lifetimes.RefreshIdle, RefreshGrace: s.Lifetimes.RefreshGrace,
	}
	grants, err := grant.All(config)
	if err != nil {
		return e, err
	}
	if e.families, err = grant.NewFamilies(config); err != nil {
		return e, err
	}
	e.token, err = tokenendpoint.New(tokenendpoint.Config{
		Grants: grants, GrantTypes: s.grantTypes, Audiences: s.audiences, Users: s.Directory, Tokens: s.Tokens,
		Metrics: s.Metrics, Audit: s.Audit, Respond: s.respond, Access: s.Lifetimes.Access, ClientIP: s.ClientIP, Now: s.Now,
	})
	if err != nil {
		return e, err
	}
	e.revoke, err = revocation.New(revocation.Config{
		Issuer: s.issuer, Families: e.families, Verifier: s.Issued, Revocations: s.Revocations, Attempts: s.Attempts,
		Metrics: s.Metrics, Audit: s.Audit, Respond: s.respond, Now: s.Now,
	})
	if err != nil {
		return e, err
	}
	e.introspect, err = introspection.New(introspection.Config{
		Issuer: s.issuer, Audiences: s.audiences, Families: e.families, Verifier: s.Verifier, Clients: s.Clients,
		Users: s.Directory, Store: s.Store, Attempts: s.Attempts, Guesses: s.Protect.ClientFailures,
		Metrics: s.Metrics, Respond: s.respond, ClientIP: s.ClientIP,
	})
	if err != nil {
		return e, err
	}
	e.userinfo, err = userinfo.New(userinfo.Config{
		Issuer: s.issuer, Verifier: s.Verifier, Clients: s.Clients, Users: s.Directory, Signer: s.Tokens, Respond: s.respond,
	})
	if err != nil {
		return e, err
	}
	e.par, err = pushed.New(pushed.Config{
		Check: func(ctx context.Context, p query.Params) error { return s.authorize.CheckPushed(ctx, p) },
		Store: s.Store, Attempts: s.Attempts, Form: s.Lifetimes.Request,
		Respond: s.respond, ClientIP: s.ClientIP, Now: s.Now,
	})
	if err != nil {
		return e, err
	}
	e.device, err = deviceauthz.New(deviceauthz.Config{
		GrantTypes: s.grantTypes, Audiences: s.audiences, Tickets: s.CrossDevice, EntryPage: s.url(page.DevicePath),
		Attempts: s.Attempts, Respond: s.respond, ClientIP: s.ClientIP,
	})
	if err != nil {
		return e, err
	}
	if s.Registration != nil {
		e.register, err = registration.New(registration.Config{
			Rules: *s.Registration, Registrar: s.Registrar, IDAlgorithms: s.Tokens.IDAlgorithms(), Address: s.url("/register"),
			Attempts: s.Attempts, Guesses: s.Protect.ClientFailures, ClientIP: s.ClientIP,
			Audit: s.Audit, Log: s.Log, Respond: s.respond, Now: s.Now,
		})
		if err != nil {
			return e, err
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
		Registration: s.Registration != nil, Clients: s.Clients, Keys: s.Tokens, Respond: s.respond,
	})
}
