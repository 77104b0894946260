package gateway

import (
	"cmp"
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
