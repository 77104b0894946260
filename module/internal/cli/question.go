package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/gateway/oauthguard"
	"github.com/gatehouse/gatehouse/module/gateway/restapi"
	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/authserver/ownpaths"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// question is what explain is asked: what would happen to this request.
type question struct {
	method string
	// scheme and host are empty when a path alone was given: then every site is asked.
	scheme, host string
	target       string // path and query as a client would send them
	// scopes are those of the token that is imagined; nil for a request without one.
	scopes []string
}

// newQuestion reads METHOD and URL. The target is kept byte for byte: what is wrong with
// an address is often in what parsing it would mend.
func newQuestion(method, address string, scopes []string) (question, error) {
	q := question{method: method, target: address, scopes: scopes}
	if scheme, rest, ok := strings.Cut(address, "://"); ok && !strings.HasPrefix(address, "/") {
		at := strings.IndexAny(rest, "/?#")
		if at < 0 {
			rest, at = rest+"/", len(rest)
		}
		q.scheme, q.host, q.target = strings.ToLower(scheme), strings.ToLower(rest[:at]), rest[at:]
		if q.scheme != "http" && q.scheme != "https" || q.host == "" || strings.Contains(q.host, "@") {
			return q, fmt.Errorf("%s: expected an address such as https://api.example.com/articles, or a path such as /articles", address)
		}
		if q.target[0] != '/' {
			q.target = "/" + q.target
		}
	}
	if !strings.HasPrefix(q.target, "/") {
		return q, fmt.Errorf("%s: expected an address such as https://api.example.com/articles, or a path such as /articles", address)
	}
	if method == "" || strings.ContainsAny(method, " \t\r\n/") {
		return q, fmt.Errorf("%s: expected a method such as GET", method)
	}
	return q, nil
}

// explanation is what one site of a configuration does with the request.
type explanation struct {
	Server string   `json:"server"`
	Listen []string `json:"listen"`
	Host   string   `json:"host,omitempty"`
	// Address is the one that clients use, with scheme and port, "" for any host.
	Address string `json:"address,omitempty"`
	// Guards that judge it, in order; more than one when each let it pass.
	Guards []verdict `json:"guards"`
	// Limits are the api_limits on its way behind them.
	Limits []limits `json:"limits,omitempty"`
	// Then is the handler that answers in the end, "" when none does.
	Then string `json:"then,omitempty"`
	// Refused says what is refused before any handler.
	Refused string `json:"refused,omitempty"`
	// Notes are what could not be decided without the request itself.
	Notes []string `json:"notes,omitempty"`
}

// verdict is one guard's decision.
type verdict struct {
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason"`
	Status  int    `json:"status,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// Path is the one form in which the path is judged and passed on.
	Path string `json:"path"`
	// Rule is the one that decided, from 1; 0 for none.
	Rule  int    `json:"rule"`
	Words string `json:"words,omitempty"`
	// Needs is what a token must have; absent when none is needed or none would help.
	Needs  *needs `json:"needs,omitempty"`
	Shadow bool   `json:"shadow,omitempty"`
}

// noRules is what a guard without any does.
const noRules = "no rules: any valid token passes"

type needs struct {
	Issuer   string   `json:"issuer"`
	Audience string   `json:"audience"`
	Scopes   []string `json:"scopes"`
}

// imagined verifies every token as the one that the question is about.
type imagined struct{ access token.Access }

// Verify implements guard.Verifier.
func (v imagined) Verify(context.Context, string) (*token.Access, error) { return &v.access, nil }

// policy is that of a guard in the configuration.
func (e *explainer) policy(raw json.RawMessage) (g oauthguard.Guard, c guard.Config, err error) {
	if err = json.Unmarshal(raw, &g); err == nil {
		c, err = g.Policy(guard.Config{Issuer: e.issuer, Audience: e.audience})
	}
	return g, c, err
}

// publishes reports whether a guard answers the request itself, with its metadata.
func (e *explainer) publishes(raw json.RawMessage, r *http.Request) bool {
	_, c, err := e.policy(raw)
	m, _ := guard.NewResourceMetadata(c.Audience, c.Issuer, nil)
	return err == nil && m.Answers(r)
}

// judge asks a guard's own decision. r is changed as the guard changes it for the next
// handler.
func (e *explainer) judge(raw json.RawMessage, r *http.Request) (verdict, error) {
	g, c, err := e.policy(raw)
	if err != nil {
		return verdict{}, err
	}
	c.Verifier = imagined{token.Access{
		Issuer: c.Issuer, Audience: []string{c.Audience}, Subject: "user", Client: "client", Scopes: e.q.scopes,
		Expires: time.Now().Add(time.Hour),
	}}
	policy, err := guard.New(c)
	if err != nil {
		return verdict{}, err
	}
	if e.q.scopes != nil {
		r.Header.Set("Authorization", "Bearer imagined")
	}
	d := policy.Decide(r)
	if d.Path != "" {
		guard.SetPath(r.URL, d.Path)
	}
	v := verdict{
		Allowed: d.Allowed, Reason: string(d.Reason), Status: d.Status, Code: d.Code, Message: d.Message,
		Path: r.URL.EscapedPath(), Rule: d.Rule + 1, Shadow: g.Shadow,
	}
	if d.Rule >= 0 {
		v.Words = ruleWords(g.Rules[d.Rule])
	} else if len(g.Rules) == 0 {
		v.Words = noRules
	} else {
		v.Words = "otherwise " + cmp.Or(g.Otherwise, "deny")
	}
	if r.Method == http.MethodOptions {
		e.note("%s", preflightNote(&g))
	}
	switch d.Reason {
	case guard.NoCredentials, guard.Valid, guard.InsufficientScope:
		v.Needs = &needs{Issuer: c.Issuer, Audience: c.Audience, Scopes: []string{}}
		if d.Rule >= 0 {
			v.Needs.Scopes = g.Rules[d.Rule].Scopes
		}
	}
	return v, nil
}

// preflightNote says what becomes of OPTIONS if a browser sends it as a CORS preflight, with
// Origin and Access-Control-Request-Method.
func preflightNote(g *oauthguard.Guard) string {
	switch {
	case g.Shadow:
		return "a CORS preflight passes, since the guard is in shadow mode"
	case len(g.CORS) > 0:
		return "a CORS preflight is answered by the guard itself"
	case g.CORSUpstream:
		return "a CORS preflight goes upstream, without query, cookies and credentials, if a rule matches the method it asks about"
	}
	return "a CORS preflight is refused unless a rule permits OPTIONS: the guard has no `cors`"
}

// ruleWords are the rule as a Caddyfile has it.
func ruleWords(r oauthguard.Rule) string {
	words := []string{"public"}
	if !r.Public {
		words = []string{"scope", strings.Join(r.Scopes, ",")}
	}
	if len(r.Methods) > 0 {
		words = append(words, strings.Join(r.Methods, ","))
	}
	return strings.Join(append(words, r.Paths...), " ")
}

// explainer reads one configuration for one question.
type explainer struct {
	q                question
	issuer, audience string
	own              ownpaths.Paths // of oauth_server
	app              *gateway.App
	ctx              caddy.Context
	named            map[string]route // of the server at hand
	tables           restapi.Tables
	at               *explanation
	// declared: an api_rest answers the request. elsewhere: somebody besides guards may have
	// refused it.
	declared, elsewhere bool
}

func newExplainer(ctx caddy.Context, c *configuration, q question) *explainer {
	e := &explainer{q: q, app: c.app, ctx: ctx, tables: c.tables, issuer: c.app.Issuer}
	if u, err := gateway.ParseIssuer(e.issuer, caddy.NewReplacer()); err == nil {
		e.issuer = u.String()
		e.own = ownpaths.New(u.Path, c.app.Registration != nil)
	}
	e.audience = e.issuer
	if a := e.app.Tokens.Audience; len(a) > 0 {
		e.audience = a[0]
	}
	return e
}

// explain says what each site of a configuration that the request may reach does with it. Those
// that listen for the address come first.
func explain(c *configuration, q question) ([]explanation, error) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	e := newExplainer(ctx, c, q)
	var out []explanation
	for _, name := range e.asked(c) {
		s := c.servers[name]
		for _, host := range s.hosts(q) {
			one, err := e.ask(name, s, host)
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

// ask follows the request through one server. nil: a path alone was asked for, and this
// site has no guard on its way.
func (e *explainer) ask(name string, s server, host string) (*explanation, error) {
	e.at = &explanation{Server: name, Listen: s.Listen, Host: host, Guards: []verdict{}}
	if e.at.Address = e.q.scheme + "://" + e.q.host; e.q.host == "" {
		e.at.Address = e.publicAddress(s, host)
	}
	e.named = s.NamedRoutes
	known := slices.Concat(e.app.Declared(), oauth.VariantBScopes)
	for _, scope := range e.q.scopes {
		if !slices.Contains(known, scope) {
			e.note("the scope %s is not declared, so no token has it", scope)
		}
	}
	r, err := e.request(host)
	if err != nil {
		e.at.Refused = err.Error()
		return e.at, nil
	}
	if _, err := e.follow(s.Routes, r); err != nil {
		return nil, err
	}
	if e.q.host == "" && len(e.at.Guards) == 0 && e.at.Then != "oauth_guard" {
		return nil, nil
	}
	return e.at, nil
}

// request is the one the server would read, or an error for one it would refuse itself.
func (e *explainer) request(host string) (*http.Request, error) {
	u, err := url.ParseRequestURI(e.q.target)
	if err != nil {
		return nil, errors.New("400: the server itself refuses the address, it is malformed")
	}
	r := &http.Request{
		Method: e.q.method, URL: u, RequestURI: e.q.target, Host: host, Header: http.Header{},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody, RemoteAddr: "127.0.0.1:1",
	}
	if e.q.scheme == "https" {
		r.TLS = new(tls.ConnectionState)
	}
	return prepared(r.WithContext(e.ctx)), nil
}
