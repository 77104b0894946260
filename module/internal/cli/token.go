package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// maxInspected is the longest token that is read from standard input, in bytes.
const maxInspected = 16 << 10

func tokenCommands() *cobra.Command {
	return groupCommand("token", "Access tokens",
		adminCommand("inspect", "Says what an access token contains and what each guard decides", `
Reads one access token from standard input, so that neither other processes nor the history
of the shell see it, and asks the running gateway: what it contains, whether it was issued
here, whether it is alive, which check fails otherwise, and what each guard of the running
configuration would decide. The token is not logged.

	$ caddy gatehouse token inspect < token.txt`, stdinOnly, inspectCommand))
}

// stdinOnly refuses arguments without repeating them: they may be a token.
func stdinOnly(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return errors.New("the token is read from standard input, never from arguments, where other processes can see it: caddy gatehouse token inspect < token.txt")
	}
	return nil
}

// inspection is what the command prints.
type inspection struct {
	adminapi.TokenInspection
	Guards []guardVerdict `json:"guards"`
}

// guardVerdict is what one guard decides about the token.
type guardVerdict struct {
	Site     string `json:"site"`
	Audience string `json:"audience"`
	// Refusal is the check that the token fails here, "" if it is accepted.
	Refusal string `json:"refusal,omitempty"`
	Shadow  bool   `json:"shadow,omitempty"`
	// Rules say for which rules the token's scopes suffice.
	Rules     []ruleVerdict `json:"rules"`
	Otherwise string        `json:"otherwise"`
}

type ruleVerdict struct {
	Words  string `json:"words"`
	Passes bool   `json:"passes"`
}

func inspectCommand(r *run) error {
	raw, err := readToken(r.in, r.cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	out := inspection{Guards: []guardVerdict{}}
	if err := r.call("POST", adminapi.Path("tokens", "inspect"), map[string]string{"token": raw}, &out.TokenInspection); err != nil {
		return err
	}
	text, err := r.admin.Configuration(r.context())
	if err != nil {
		return err
	}
	config, err := explain.ReadConfiguration(text)
	if err != nil {
		return err
	}
	if out.Guards, err = judgeToken(config, out.TokenInspection); err != nil {
		return err
	}
	return r.print(out, out.text)
}

// readToken reads one token, with or without the word Bearer in front. A terminal shows nothing.
func readToken(in *os.File, prompt io.Writer) (string, error) {
	var text []byte
	var err error
	if term.IsTerminal(int(in.Fd())) {
		fmt.Fprint(prompt, "Access token: ")
		text, err = term.ReadPassword(int(in.Fd()))
		fmt.Fprintln(prompt)
	} else {
		text, err = io.ReadAll(io.LimitReader(in, maxInspected+1))
	}
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(text))
	if len(words) == 2 && strings.EqualFold(words[0], "Bearer") {
		words = words[1:]
	}
	switch {
	case len(text) > maxInspected:
		return "", fmt.Errorf("standard input has more than %d bytes; expected one access token", maxInspected)
	case len(words) != 1:
		return "", fmt.Errorf("expected one access token on standard input, got %d words", len(words))
	}
	return words[0], nil
}

// judgeToken says what each guard of a configuration decides about a token.
func judgeToken(c *explain.Configuration, found adminapi.TokenInspection) ([]guardVerdict, error) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	e := explain.New(ctx, c, explain.Question{})
	verdicts := []guardVerdict{}
	for _, name := range explain.SortedKeys(c.Servers) {
		s := c.Servers[name]
		var failed error
		visit := func(site string, rt routes.Route) {
			for raw, h := range rt.Handlers() {
				if h.Handler == "oauth_guard" && failed == nil {
					var v guardVerdict
					v, failed = guardVerdictOf(e, raw, found)
					v.Site = strings.TrimPrefix(site+" on "+strings.Join(s.Listen, " "), " ")
					verdicts = append(verdicts, v)
				}
			}
		}
		for _, rt := range s.Routes {
			visit(strings.Join(namedHosts(rt), ", "), rt)
		}
		for _, named := range explain.SortedKeys(s.NamedRoutes) {
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

func guardVerdictOf(e *explain.Explainer, raw json.RawMessage, found adminapi.TokenInspection) (guardVerdict, error) {
	g, c, err := e.Policy(raw)
	if err != nil {
		return guardVerdict{}, fmt.Errorf("an oauth_guard: %w", err)
	}
	v := guardVerdict{Audience: c.Audience, Refusal: found.Refusal, Shadow: g.Shadow, Rules: []ruleVerdict{}, Otherwise: "deny"}
	if c.Otherwise == guard.Token || len(g.Rules) == 0 {
		v.Otherwise = "token"
	}
	c.Verifier, c.Now = explain.Imagined{}, func() time.Time { return found.Now }
	policy, err := guard.New(c)
	if err != nil {
		return guardVerdict{}, err
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
		v.Rules = append(v.Rules, ruleVerdict{explain.RuleWords(rule), rule.Public || v.Refusal == "" && oauth.Subset(rule.Scopes, access.Scopes)})
	}
	return v, nil
}

func (i inspection) text(w io.Writer) {
	if t := i.Token; t != nil {
		if !i.Genuine {
			row(w, "Note:", "this gateway did not sign it, or not with a key that is still valid: what follows may be invented")
		}
		for _, line := range [][2]string{
			{"Token", t.ID}, {"Client", t.Client}, {"Subject", t.Subject}, {"Issuer", t.Issuer},
			{"Audience", strings.Join(t.Audience, " ")}, {"Scopes", strings.Join(t.Scopes, " ")}, {"Key", t.KeyID + " " + t.Alg + " " + t.Type},
			{"Issued", relative(t.IssuedAt, i.Now)}, {"Expires", relative(t.Expires, i.Now)},
		} {
			row(w, line[0]+":", line[1])
		}
	}
	row(w, "Decision:", decisionText(i.Refusal, "alive"))
	for _, g := range i.Guards {
		fmt.Fprintln(w)
		row(w, "Guard:", g.Site)
		row(w, "Audience:", g.Audience)
		decision := decisionText(g.Refusal, "accepts the token")
		if g.Shadow && g.Refusal != "" {
			decision += "; but it is in shadow mode and lets the request pass"
		}
		row(w, "Decision:", decision)
		for n, rule := range g.Rules {
			passes := "passes"
			switch {
			case !rule.Passes && g.Refusal != "":
				passes = "401"
			case !rule.Passes:
				passes = "403, the token lacks a scope"
			}
			row(w, "Rule "+strconv.Itoa(n+1)+":", passes+": "+rule.Words)
		}
		if g.Otherwise == "token" {
			row(w, "Otherwise:", "any token that is accepted passes")
		} else {
			row(w, "Otherwise:", "403")
		}
	}
	if len(i.Guards) == 0 {
		row(w, "Guard:", "none in this configuration")
	}
}

func decisionText(refusal, otherwise string) string {
	if refusal == "" {
		return otherwise
	}
	return "refused, " + refusal + ": " + refusalTexts[token.Refusal(refusal)]
}

// refusalTexts say in words which check failed.
var refusalTexts = map[token.Refusal]string{
	token.Malformed:     "it is not a JWT as this gateway makes them; opaque tokens and tokens of other servers end here",
	token.WrongType:     "it is a JWT but not an access token; an id_token is not one",
	token.UnknownKey:    "its key is not in the key ring: another gateway signed it, or the key was retired or revoked (caddy gatehouse keys list)",
	token.BadSignature:  "the signature does not fit: the token was changed or cut, or it is forged",
	token.BadClaims:     "a claim is missing, malformed or too long",
	token.Expired:       "its time is up; there is no tolerance for exp",
	token.NotYetValid:   "iat or nbf is more than 60 seconds ahead: compare the clocks of the nodes",
	token.Revoked:       "it was revoked, or its grant, its client or its user ended",
	token.ClientGone:    "its client is in neither configuration nor store any more",
	token.UserGone:      "its user was locked or deleted",
	token.WrongIssuer:   "it is from another issuer",
	token.WrongAudience: "its audience does not contain the one of the guard; see `audience` of the client, and `resource` of the request for it",
	token.OtherRefusal:  "no reason is known",
}

func relative(at, now time.Time) string {
	if at.IsZero() {
		return "not said"
	}
	text := at.UTC().Format(time.RFC3339)
	switch d := at.Sub(now).Round(time.Second); {
	case d == 0:
		return text + ", now"
	case d > 0:
		return text + ", in " + d.String()
	}
	return text + ", " + now.Sub(at).Round(time.Second).String() + " ago"
}
