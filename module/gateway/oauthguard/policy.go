package oauthguard

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/gatehouse/gatehouse/module/guard"
)

// Policy adds the handler's configuration to base, which has the issuer and the default audience:
// for the handler, and for a command that explains it.
func (g *Guard) Policy(base guard.Config) (guard.Config, error) {
	c := base
	c.Audience, c.Realm = cmp.Or(g.Audience, base.Audience), g.Realm
	c.AllowEncodedSlash, c.CORS, c.CORSUpstream = g.AllowEncodedSlash, g.CORS, g.CORSUpstream
	if err := g.CheckDecisionOnly(); err != nil {
		return c, err
	}
	switch g.Otherwise {
	case "", "deny":
	case "token":
		c.Otherwise = guard.Token
	default:
		return c, fmt.Errorf("oauth_guard: otherwise %s: expected deny or token", g.Otherwise)
	}
	c.Rules = g.Rules
	return c, nil
}

// CheckDecisionOnly reports options with which a decision-only guard would answer 2xx to requests
// that no rule permits.
func (g *Guard) CheckDecisionOnly() error {
	switch {
	case !g.DecisionOnly:
		return nil
	case len(g.CORS) > 0 || g.CORSUpstream:
		return errors.New("oauth_guard: decision_only: expected no cors beside it: the server that asks would take a preflight that is answered for one that is permitted")
	case g.Shadow:
		return errors.New("oauth_guard: decision_only: expected no shadow beside it: the server that asks would take every request for permitted")
	}
	return nil
}
