package main

import "encoding/base64"

// basic are the credentials of the first client.
var basic = base64.StdEncoding.EncodeToString([]byte("c0:" + secret))

// configurations are the gateways that rows share.
type configurations struct {
	bare, respond, lean, errors, guard, caddyProxy, leanProxy, goPace, caddyRedis, leanRedis, refusing, rest *gateway
}

func (b *bench) newConfigurations() *configurations {
	return &configurations{
		bare:       b.newCaddy("bare", caddy{program: b.bareProgram, site: reverseProxy, secure: true}),
		respond:    b.newCaddy("respond", caddy{program: b.bareProgram, site: respond, secure: true}),
		lean:       b.newGatehouse("api_proxy", gatehouse{site: apiProxy}),
		errors:     b.newGatehouse("api_errors", gatehouse{site: apiErrors + reverseProxy}),
		guard:      b.newGatehouse("oauth_guard", gatehouse{site: oauthGuard + reverseProxy}),
		caddyProxy: b.newGatehouse("full, reverse_proxy", gatehouse{site: full + reverseProxy, secure: true}),
		leanProxy:  b.newGatehouse("full, api_proxy", gatehouse{site: full + apiProxy, secure: true}),
		goPace:     b.newGatehouse("full, api_proxy, gc_headroom off", gatehouse{site: full + apiProxy, headroom: "off"}),
		caddyRedis: b.newGatehouse("full, reverse_proxy, redis", gatehouse{site: full + reverseProxy, redis: true}),
		leanRedis:  b.newGatehouse("full, api_proxy, redis", gatehouse{site: full + apiProxy, redis: true}),
		refusing:   b.newGatehouse("refusing", gatehouse{site: scarce + apiProxy, redis: true}),
		rest:       b.newGatehouse("full, api_rest", gatehouse{site: full + apiRest}),
	}
}

// groups lists everything that is measured.
func (b *bench) groups() []*group {
	c, p := b.newConfigurations(), b.newPeers()
	return []*group{
		{
			title: "A document of 229 bytes over HTTP/1.1; 1,000 clients, each with its own token",
			base:  &row{name: "bare Caddy, reverse_proxy", gateway: c.bare, path: "/read/1", tokens: someTokens},
			rows: []*row{
				{name: "bare Caddy, respond: the floor", gateway: c.respond, path: "/read/1", tokens: someTokens},
				{name: "api_proxy", gateway: c.lean, path: "/read/1", tokens: someTokens, bound: 0.60, aim: 0.50},
				{name: "api_errors, reverse_proxy", gateway: c.errors, path: "/read/1", tokens: someTokens},
				{name: "oauth_guard, reverse_proxy", gateway: c.guard, path: "/read/1", tokens: someTokens, primes: clients},
				{name: "errors, guard, 2 limits, reverse_proxy", gateway: c.caddyProxy, path: "/read/1", tokens: someTokens, primes: clients, bound: 1.08, aim: 1.00},
				{name: "errors, guard, 2 limits, api_proxy", gateway: c.leanProxy, path: "/read/1", tokens: someTokens, primes: clients, bound: 0.75, aim: 0.60},
				{name: "the same, gc_headroom off", gateway: c.goPace, path: "/read/1", tokens: someTokens, primes: clients},
				{name: "limits in Redis, reverse_proxy", gateway: c.caddyRedis, redis: true, path: "/read/1", tokens: someTokens, primes: clients},
				{name: "limits in Redis, api_proxy", gateway: c.leanRedis, redis: true, path: "/read/1", tokens: someTokens, primes: clients, bound: 0.85, aim: 0.62},
				{name: "refused: 429, limits in Redis", gateway: c.refusing, redis: true, path: "/read/1", tokens: fewTokens, primes: 8 * 100, status: 429, bound: 0.35, aim: 0.32},
				{name: "refused: 401, a forged token again", gateway: c.refusing, redis: true, path: "/read/1", tokens: forgedTokens, primes: clients, status: 401, bound: 0.35, aim: 0.32},
				{name: "errors, guard, 2 limits, api_rest", gateway: c.rest, path: "/articles/1", tokens: someTokens, primes: clients, bound: 0.85, aim: 0.65},
				{name: "nginx", gateway: p.nginx, peer: true, path: "/read/1", tokens: tokensOfPeers},
				{name: "nginx with Lua, cached JWT", gateway: p.nginxChecked, peer: true, path: "/read/1", tokens: tokensOfPeers, primes: clients},
				{name: "nginx with Lua, cached JWT, Redis", gateway: p.nginxLimited, redis: true, peer: true, path: "/read/1", tokens: tokensOfPeers, primes: clients},
				{name: "HAProxy", gateway: p.haproxy, peer: true, path: "/read/1", tokens: tokensOfPeers},
				{name: "HAProxy, jwt_verify RS256", gateway: p.haproxyChecked, peer: true, path: "/read/1", tokens: tokensOfPeers},
			},
		},
		{
			title: "A list of 100, 21 kB over HTTP/1.1",
			base:  &row{name: "bare Caddy, reverse_proxy, the same list", gateway: c.bare, path: "/list", tokens: someTokens},
			rows: []*row{
				{name: "errors, guard, 2 limits, api_rest: translated", gateway: c.rest, path: "/things?limit=100", tokens: someTokens, primes: clients, bound: 1.6, aim: 1.2},
			},
		},
		{
			title: "A document of 229 bytes over TLS and HTTP/2, 16 connections with 8 streams",
			base:  &row{name: "bare Caddy, reverse_proxy, HTTP/2", gateway: c.bare, path: "/read/1", tokens: someTokens, connections: 16, streams: 8},
			rows: []*row{
				{name: "bare Caddy, respond, HTTP/2", gateway: c.respond, path: "/read/1", tokens: someTokens, connections: 16, streams: 8},
				{name: "errors, guard, 2 limits, reverse_proxy, HTTP/2", gateway: c.caddyProxy, path: "/read/1", tokens: someTokens, connections: 16, streams: 8},
				{name: "errors, guard, 2 limits, api_proxy, HTTP/2", gateway: c.leanProxy, path: "/read/1", tokens: someTokens, connections: 16, streams: 8, bound: 0.85, aim: 0.75},
			},
		},
		{
			title:    "Latency at half the load that bare Caddy can carry; ratios of the 99th percentile",
			base:     &row{name: "bare Caddy, reverse_proxy, half load", gateway: c.bare, path: "/read/1", tokens: someTokens},
			rows:     []*row{{name: "errors, guard, 2 limits, api_proxy, half load", gateway: c.leanProxy, path: "/read/1", tokens: someTokens, bound: 1.2, aim: 1.0}},
			halfLoad: true,
		},
		{
			title: "A token by client_credentials; ratios to respond and one ES256 signature",
			base:  &row{name: "bare Caddy, respond to a POST", gateway: c.respond, path: "/token", form: tokenForm, connections: 16},
			rows:  []*row{{name: "/token", gateway: b.issuer, path: "/token", form: tokenForm, connections: 16, bound: 1.35, aim: 1.2}},
			plus:  b.signer.sign,
		},
		b.growth(c),
	}
}

// growth is what more tokens and more rules cost.
func (b *bench) growth(c *configurations) *group {
	small := b.newGatehouse("10 rules", gatehouse{site: full + apiProxy, rules: 10})
	large := b.newGatehouse("1,000 rules", gatehouse{site: full + apiProxy, rules: 1000})
	hot := b.newGatehouse("many tokens", gatehouse{site: full + apiProxy})
	cold := b.newGatehouse("cold tokens", gatehouse{site: full + apiProxy, cache: "2MiB"})
	return &group{
		title: "More tokens and rules: errors, guard, 2 limits, api_proxy; ratios to one token and one rule",
		base:  &row{name: "one token, one rule", gateway: c.leanProxy, path: "/read/1", tokens: oneToken, primes: 1},
		rows: []*row{
			{name: "1,000 live tokens", gateway: c.leanProxy, path: "/read/1", tokens: someTokens, primes: clients, bound: 1.05},
			{name: manyTokens, gateway: hot, path: "/read/1", tokens: allTokens, primes: b.options.live, bound: 1.05},
			{name: "10 rules", gateway: small, path: "/read/1", tokens: oneToken, primes: 1, bound: 1.05},
			{name: "1,000 rules", gateway: large, path: "/read/1", tokens: oneToken, primes: 1, bound: 1.05},
			{name: coldTokens, gateway: cold, path: "/read/1", tokens: allTokens, beside: b.signer.verify},
		},
	}
}

// Rows of which more than the ratio has a bound.
const (
	manyTokens = "100,000 live tokens"
	coldTokens = "cold tokens: each is verified"
)
