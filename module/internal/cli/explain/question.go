package explain

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/gateway/oauthguard"
	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

// Question is a request that nobody sends: what would happen to it?
type Question struct {
	Method string
	// Scheme and Host are empty when only a path was given: then every site is asked.
	Scheme, Host string
	Target       string // path and query as a client would send them
	// Scopes are those of an imagined token; nil for a request without one.
	Scopes []string
}

// NewQuestion reads METHOD and URL. The target is kept byte for byte: what is wrong with
// an address is often in what parsing it would mend.
func NewQuestion(method, address string, scopes []string) (Question, error) {
	q := Question{Method: method, Target: address, Scopes: scopes}
	if scheme, rest, ok := strings.Cut(address, "://"); ok && !strings.HasPrefix(address, "/") {
		at := strings.IndexAny(rest, "/?#")
		if at < 0 {
			rest, at = rest+"/", len(rest)
		}
		q.Scheme, q.Host, q.Target = strings.ToLower(scheme), strings.ToLower(rest[:at]), rest[at:]
		if q.Scheme != "http" && q.Scheme != "https" || q.Host == "" || strings.Contains(q.Host, "@") {
			return q, fmt.Errorf("%s: expected an address such as https://api.example.com/articles, or a path such as /articles", address)
		}
		if q.Target[0] != '/' {
			q.Target = "/" + q.Target
		}
	}
	if !strings.HasPrefix(q.Target, "/") {
		return q, fmt.Errorf("%s: expected an address such as https://api.example.com/articles, or a path such as /articles", address)
	}
	if method == "" || strings.ContainsAny(method, " \t\r\n/") {
		return q, fmt.Errorf("%s: expected a method such as GET", method)
	}
	return q, nil
}

// HTTPRequest returns the request as the server would read it, or an error for one that it would
// refuse itself.
func (q Question) HTTPRequest(ctx context.Context, host string) (*http.Request, error) {
	u, err := url.ParseRequestURI(q.Target)
	if err != nil {
		return nil, errors.New("400: the server itself refuses the address, it is malformed")
	}
	r := &http.Request{
		Method: q.Method, URL: u, RequestURI: q.Target, Host: host, Header: http.Header{},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody, RemoteAddr: "127.0.0.1:1",
	}
	if q.Scheme == "https" {
		r.TLS = &tls.ConnectionState{HandshakeComplete: true} // not early data, which guards refuse
	}
	return prepared(r.WithContext(ctx)), nil
}

// Explanation is what one site of a configuration does with the request.
type Explanation struct {
	Server string   `json:"server"`
	Listen []string `json:"listen"`
	Host   string   `json:"host,omitempty"`
	// Address is the one that clients use, with scheme and port, "" for any host.
	Address string `json:"address,omitempty"`
	// Guards that judge it, in order; more than one when each let it pass.
	Guards []Verdict `json:"guards"`
	// Limits are the api_limits on its way behind them.
	Limits []Limits `json:"limits,omitempty"`
	// Then is the directive that answers in the end, "" when none does.
	Then string `json:"then,omitempty"`
	// Refused says what is refused before any handler.
	Refused string `json:"refused,omitempty"`
	// Notes are what could not be decided without the request itself.
	Notes []string `json:"notes,omitempty"`
}

// Verdict is one guard's decision.
type Verdict struct {
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
	Needs  *Needs `json:"needs,omitempty"`
	Shadow bool   `json:"shadow,omitempty"`
}

// NoRules says what a guard without rules does.
const NoRules = "no rules: any valid token passes"

// Needs is what a token must have.
type Needs struct {
	Issuer   string   `json:"issuer"`
	Audience string   `json:"audience"`
	Scopes   []string `json:"scopes"`
}

// imagined verifies every token as the one that is asked about.
type imagined struct{ Access token.Access }

// Verify implements guard.Verifier.
func (v imagined) Verify(context.Context, string) (*token.Access, error) { return &v.Access, nil }

// policy returns a guard of the configuration and its policy.
func (e *Explainer) policy(raw json.RawMessage) (g oauthguard.Guard, c guard.Config, err error) {
	if err = json.Unmarshal(raw, &g); err == nil {
		c, err = g.Policy(guard.Config{Issuer: e.issuer, Audience: e.audience})
	}
	return g, c, err
}

// publishes reports whether a guard answers the request itself, with its metadata.
func (e *Explainer) publishes(raw json.RawMessage, r *http.Request) bool {
	_, c, err := e.policy(raw)
	m, _ := guard.NewResourceMetadata(c.Audience, c.Issuer, nil)
	return err == nil && m.Answers(r)
}

// judge asks a guard's own decision. r is changed as the guard changes it for the next
// handler.
func (e *Explainer) judge(raw json.RawMessage, r *http.Request) (Verdict, error) {
	g, c, err := e.policy(raw)
	if err != nil {
		return Verdict{}, err
	}
	c.Verifier = imagined{token.Access{
		Issuer: c.Issuer, Audience: []string{c.Audience}, Subject: "user", Client: "client", Scopes: e.q.Scopes,
		Expires: time.Now().Add(time.Hour),
	}}
	policy, err := guard.New(c)
	if err != nil {
		return Verdict{}, err
	}
	if e.q.Scopes != nil {
		r.Header.Set("Authorization", "Bearer imagined")
	}
	d := policy.Decide(r)
	if d.Path != "" {
		guard.SetPath(r.URL, d.Path)
	}
	v := Verdict{
		Allowed: d.Allowed, Reason: string(d.Reason), Status: d.Status, Code: d.Code, Message: d.Message,
		Path: r.URL.EscapedPath(), Rule: d.Rule + 1, Shadow: g.Shadow,
	}
	if d.Rule >= 0 {
		v.Words = ruleWords(g.Rules[d.Rule])
	} else if len(g.Rules) == 0 {
		v.Words = NoRules
	} else {
		v.Words = "otherwise " + cmp.Or(g.Otherwise, "deny")
	}
	for _, path := range guard.OtherReadings(r.URL) {
		e.note("APIs that decode the path before they cut off the query or fragment read %s; a request needs what the rules of both paths require", path)
	}
	if r.Method == http.MethodOptions {
		e.note("%s", preflightNote(&g))
	}
	switch d.Reason {
	case guard.NoCredentials, guard.Valid, guard.InsufficientScope:
		v.Needs = &Needs{Issuer: c.Issuer, Audience: c.Audience, Scopes: []string{}}
		if scopes, _, _ := policy.Needs(r.Method, v.Path); len(scopes) > 0 {
			v.Needs.Scopes = scopes
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

// ruleWords returns a rule as a Caddyfile has it.
func ruleWords(r guard.Rule) string {
	words := []string{"public"}
	if !r.Public {
		words = []string{"scope", strings.Join(r.Scopes, ",")}
	}
	if len(r.Methods) > 0 {
		words = append(words, strings.Join(r.Methods, ","))
	}
	return strings.Join(append(words, r.Paths...), " ")
}
