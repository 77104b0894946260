package doctor

import (
	"encoding/json"
	"fmt"
	"iter"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/gateway/oauthguard"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/doctor/headers"
	"github.com/gatehouse/gatehouse/module/internal/cli/doctor/rest"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/servers"
)

// configuration is the one that is checked.
type configuration struct {
	explain.Configuration
	issuer   *url.URL
	variantB bool // whether a client speaks it
}

// Configuration reports what the text of a configuration shows. The issuer is the running
// gateway's: its text may hold a placeholder of another environment.
func Configuration(config []byte, running adminapi.Examination) (adminapi.Findings, error) {
	c, err := explain.ReadConfiguration(config)
	if err != nil {
		return nil, err
	}
	issuer, err := url.Parse(running.Issuer)
	if err != nil {
		return nil, fmt.Errorf("the issuer %s: %w", running.Issuer, err)
	}
	p := configuration{*c, issuer, running.VariantB}
	return p.checkAll(time.Now()), nil
}

// checkAll reports what a configuration shows, whether it runs or not.
func (p configuration) checkAll(now time.Time) adminapi.Findings {
	return slices.Concat(p.sites(), p.proxies(), p.policies(), p.cors(), p.reachability(), p.origins(), rest.Examine(&p.Configuration, now), p.nodes(), p.polls(), p.logs(), p.caches(), headers.Examine(&p.Configuration), p.besideGuards(), p.guardedElsewhere())
}

// sites looks for servers with oauth_server, and how requests reach them.
func (p configuration) sites() (out adminapi.Findings) {
	const check = "site"
	found := false
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		if !s.Has("gatehouse_server") {
			continue
		}
		found = true
		plain := s.Plain()
		switch {
		case p.issuer.Scheme != "https" || !plain:
		case s.AlsoTLS(p.Servers):
			// The plaintext half of a site, there so that oauth_server refuses it itself.
		case !proxiesOf(s).Trusted():
			out.Fail(check, "serve the issuer with TLS, or name the proxy that ends TLS in front with `servers { trusted_proxies static ... }`, at a Unix socket with `trusted_proxies_unix`",
				"server %s serves the issuer %s without TLS and trusts no proxy: every request is refused as plaintext", name, p.issuer)
		default:
			out.OK(check, "server %s serves the issuer behind a proxy that ends TLS", name)
		}
		if p.issuer.Scheme == "https" && !plain && s.Redirects() && !p.plaintextSite() {
			out.Warn("plaintext", fmt.Sprintf("put both addresses on the site, `%s, http://%s`: oauth_server refuses plaintext itself", p.issuer.Host, p.issuer.Hostname()),
				"Caddy redirects plain http to https by itself: an address with a code or state in it that comes over http is seen, and may be logged, by a server the gateway is not in")
		}
	}
	if !found {
		out.Warn(check, "put `oauth_server` on the issuer's site, unless this process only guards for a server elsewhere that shares the store",
			"no site has oauth_server: nobody can sign in here")
	} else if len(out) == 0 {
		out.OK(check, "oauth_server is on a site")
	}
	return out
}

// proxies looks for servers whose clients can forge the address they are counted under.
func (p configuration) proxies() (out adminapi.Findings) {
	const check = "proxies"
	out = p.withoutAddress()
	trusting := 0
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		if !proxiesOf(s).Trusted() || !slices.ContainsFunc([]string{"gatehouse_server", "gatehouse_guard", "gatehouse_limit", "gatehouse_rest"}, s.Has) {
			continue
		}
		trusting++
		if header := servers.ForgeableAddressHeader(s.TrustedProxiesStrict > 0, s.ClientIPHeaders); header != "" {
			out.Warn(check, servers.ForgeryRemedy,
				"server %s (%s) takes the leftmost address in %s for the client's: behind a proxy that appends to it, as nginx does, clients choose the address that limits, sign-in limits and the audit trail believe",
				name, strings.Join(s.Listen, " "), header)
		}
	}
	if trusting > 0 && len(out) == 0 {
		out.OK(check, "clients cannot forge their address through %s behind trusted proxies", adminapi.Count(trusting, "server"))
	}
	return out
}

// declaredGuard is an oauth_guard of the configuration.
type declaredGuard struct {
	oauthguard.Guard
	server explain.Server
	where  string // for messages
}

// guards yields each guard that can be read.
func (p configuration) guards() iter.Seq[*declaredGuard] {
	return func(yield func(*declaredGuard) bool) {
		for _, name := range explain.SortedKeys(p.Servers) {
			s := p.Servers[name]
			for raw := range s.All("gatehouse_guard") {
				g := &declaredGuard{server: s, where: fmt.Sprintf("a guard of server %s (%s)", name, strings.Join(s.Listen, " "))}
				if json.Unmarshal(raw, &g.Guard) == nil && !yield(g) {
					return
				}
			}
		}
	}
}

// policies looks at each guard's policy.
func (p configuration) policies() (out adminapi.Findings) {
	const check = "guard"
	n := 0
	for g := range p.guards() {
		n++
		if len(g.Rules) == 0 {
			out.Warn(check, "write rules, such as `scope articles:read GET /articles/*`", "%s has no rules: any valid token passes everywhere", g.where)
		}
		if g.Shadow {
			out.Warn(check, "remove `shadow` when its log shows what you expect", "%s is in shadow mode: it refuses nothing", g.where)
		}
		if a := g.Audience; a != "" && !strings.Contains(a, "{") && !slices.Contains(p.audiences(), a) {
			out.Fail(check, "name an audience in `tokens { audience ... }` or at the clients, or correct the guard's", "%s asks for the audience %s, which no token is issued for", g.where, a)
		}
		if own := p.ownAudience(g.server); g.Audience == "" && own != "" {
			out.Warn(check, "write `audience "+own+"` in it", "%s asks for the audience %s, since it names none; tokens for %s alone, the address of its own site, are refused there", g.where, p.audiences()[0], own)
		}
	}
	switch {
	case n == 0:
		out.Warn(check, "put `oauth_guard` in front of what is to be protected", "no site has an oauth_guard")
	case len(out) == 0:
		out.OK(check, "%s with rules and an audience that tokens have", adminapi.Count(n, "guard"))
	}
	return out
}

// ownAudience is the audience, if any, that is the address of a site of this server, and
// that a guard which names no audience does not ask for.
func (p configuration) ownAudience(s explain.Server) string {
	scheme := "https"
	if s.Plain() {
		scheme = "http"
	}
	hosts := s.Hosts(explain.Question{})
	all := p.audiences()
	at := slices.IndexFunc(all, func(address string) bool {
		u, err := url.Parse(address)
		return err == nil && u.Scheme == scheme && slices.Contains(hosts, u.Hostname()) && s.ListensFor(explain.Question{Scheme: scheme, Host: u.Host})
	})
	if at <= 0 { // the first is what the guard asks for
		return ""
	}
	return all[at]
}

// audiences are those that tokens of this configuration can have.
func (p configuration) audiences() []string {
	all := slices.Clone(p.App.Tokens.Audience)
	if len(all) == 0 {
		all = []string{p.issuer.String()}
	}
	for _, c := range p.App.Clients {
		all = append(all, c.Audience...)
	}
	return all
}

// plaintextSite reports whether a server for plain http has the issuer's host and
// oauth_server, so that Caddy makes no redirect of its own for it.
func (p configuration) plaintextSite() bool {
	host := p.issuer.Hostname()
	for _, s := range p.Servers {
		if s.Plain() && s.Has("gatehouse_server") && slices.ContainsFunc(s.Hosts(explain.Question{}), func(h string) bool {
			name, _, err := net.SplitHostPort(h)
			return h == host || err == nil && name == host
		}) {
			return true
		}
	}
	return false
}
