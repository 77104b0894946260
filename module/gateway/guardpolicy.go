package gateway

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/gatehouse/gatehouse/module/guard"
)

// Policy is what the configuration says about the guard, without what it needs to run:
// the same for the handler and for a command that explains it. audience is the one of
// a guard that names none.
func (g *Guard) Policy(issuer, audience string) (guard.Config, error) {
	c := guard.Config{
		Issuer: issuer, Audience: cmp.Or(g.Audience, audience), Realm: g.Realm,
		AllowEncodedSlash: g.AllowEncodedSlash, CORS: g.CORS, CORSUpstream: g.CORSUpstream,
	}
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
	for _, r := range g.Rules {
		c.Rules = append(c.Rules, guard.Rule(r))
	}
	return c, nil
}

// CheckDecisionOnly reports words that would let a guard that is only asked answer 2xx to
// requests that no rule permits.
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
