package explain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/routes"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// GuardVerdict is what one guard decides about the token.
type GuardVerdict struct {
	Site     string `json:"site"`
	Audience string `json:"audience"`
	// Refusal is the check that the token fails here, "" if it is accepted.
	Refusal string `json:"refusal,omitempty"`
	Shadow  bool   `json:"shadow,omitempty"`
	// Rules say for which rules the token's scopes suffice.
	Rules     []RuleVerdict `json:"rules"`
	Otherwise string        `json:"otherwise"`
}

// RuleVerdict says for a rule, in the words of a Caddyfile, whether a token suffices.
type RuleVerdict struct {
	Words  string `json:"words"`
	Passes bool   `json:"passes"`
}

// JudgeToken says what each guard of a configuration decides about a token.
func JudgeToken(c *Configuration, found adminapi.TokenInspection) ([]GuardVerdict, error) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	e := New(ctx, c, Question{})
	verdicts := []GuardVerdict{}
	for _, name := range SortedKeys(c.Servers) {
		s := c.Servers[name]
		var failed error
		visit := func(site string, rt routes.Route) {
			for raw, h := range rt.Handlers() {
				if h.Handler == "gatehouse_guard" && failed == nil {
					var v GuardVerdict
					v, failed = verdictOf(e, raw, found)
					v.Site = strings.TrimPrefix(site+" on "+strings.Join(s.Listen, " "), " ")
					verdicts = append(verdicts, v)
				}
			}
		}
		for _, rt := range s.Routes {
			visit(strings.Join(namedHosts(rt), ", "), rt)
		}
		for _, named := range SortedKeys(s.NamedRoutes) {
			visit("the named route "+named, s.NamedRoutes[named])
		}
		if failed != nil {
			return nil, failed
		}
	}
	return verdicts, nil
}

// namedHosts returns the hosts that a route's matchers name.
func namedHosts(rt routes.Route) (hosts []string) {
	for _, set := range rt.Match {
		var named []string
		if json.Unmarshal(set["host"], &named) == nil {
			hosts = append(hosts, named...)
		}
	}
	return hosts
}

func verdictOf(e *Explainer, raw json.RawMessage, found adminapi.TokenInspection) (GuardVerdict, error) {
	g, c, err := e.policy(raw)
	if err != nil {
		return GuardVerdict{}, fmt.Errorf("an oauth_guard: %w", err)
	}
	v := GuardVerdict{Audience: c.Audience, Refusal: found.Refusal, Shadow: g.Shadow, Rules: []RuleVerdict{}, Otherwise: "deny"}
	if c.Otherwise == guard.Token || len(g.Rules) == 0 {
		v.Otherwise = "token"
	}
	c.Verifier, c.Now = imagined{}, func() time.Time { return found.Now }
	policy, err := guard.New(c)
	if err != nil {
		return GuardVerdict{}, err
	}
	var access token.Access
	if t := found.Token; t != nil {
		access = token.Access{Issuer: t.Issuer, Audience: t.Audience, Subject: t.Subject, Client: t.Client, Scopes: t.Scopes, Expires: t.Expires}
	}
	var refused *token.RefusedError
	if v.Refusal == "" && errors.As(policy.Check(&access), &refused) {
		v.Refusal = string(refused.Refusal)
	}
	for _, rule := range g.Rules {
		v.Rules = append(v.Rules, RuleVerdict{ruleWords(rule), rule.Public || v.Refusal == "" && oauth.Subset(rule.Scopes, access.Scopes)})
	}
	return v, nil
}
