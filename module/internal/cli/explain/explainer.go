package explain

import (
	"context"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/authserver/ownpaths"
	"github.com/gatehouse/gatehouse/module/internal/routes"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Explainer follows one question through one configuration.
type Explainer struct {
	*Configuration
	q                Question
	issuer, audience string
	own              ownpaths.Paths // of oauth_server
	ctx              caddy.Context
	named            map[string]routes.Route // of the server at hand
	at               *Explanation
	invoked          int // named routes on the way
	// Declared: an api_rest declares the request. Elsewhere: a handler that is no guard may
	// refuse it.
	Declared, Elsewhere bool
}

// New makes an Explainer for one question; it may be used for several servers in turn.
func New(ctx caddy.Context, c *Configuration, q Question) *Explainer {
	e := &Explainer{q: q, Configuration: c, ctx: ctx, issuer: c.App.Issuer}
	if u, err := gateway.ParseIssuer(e.issuer, caddy.NewReplacer()); err == nil {
		e.issuer = u.String()
		e.own = ownpaths.New(u.Path, c.App.Registration != nil)
	}
	e.audience = e.issuer
	if a := e.App.Tokens.Audience; len(a) > 0 {
		e.audience = a[0]
	}
	return e
}

// Request says what each site of a configuration that the request may reach does with it. Those
// that listen for the address come first.
func Request(c *Configuration, q Question) ([]Explanation, error) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	e := New(ctx, c, q)
	var out []Explanation
	for _, name := range e.asked(c) {
		s := c.Servers[name]
		for _, host := range s.Hosts(q) {
			one, err := e.Ask(name, s, host)
			if err != nil {
				return nil, err
			}
			if one != nil {
				out = append(out, *one)
			}
		}
	}
	return out, nil
}

// Ask follows the request through one server. nil: a path alone was asked for, and this
// site has no guard on its way.
func (e *Explainer) Ask(name string, s Server, host string) (*Explanation, error) {
	e.at = &Explanation{Server: name, Listen: s.Listen, Host: host, Guards: []Verdict{}}
	if e.at.Address = e.q.Scheme + "://" + e.q.Host; e.q.Host == "" {
		e.at.Address = e.publicAddress(s, host)
	}
	e.named = s.NamedRoutes
	known := slices.Concat(e.App.Declared(), oauth.VariantBScopes)
	for _, scope := range e.q.Scopes {
		if !slices.Contains(known, scope) {
			e.note("the scope %s is not declared, so no token has it", scope)
		}
	}
	r, err := e.q.HTTPRequest(e.ctx, host)
	if err != nil {
		e.at.Refused = err.Error()
		return e.at, nil
	}
	if _, err := e.follow(s.Routes, r); err != nil {
		return nil, err
	}
	if e.q.Host == "" && len(e.at.Guards) == 0 && e.at.Then != "oauth_guard" {
		return nil, nil
	}
	return e.at, nil
}
