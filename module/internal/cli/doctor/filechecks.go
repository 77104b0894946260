package doctor

import (
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/doctor/sites"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// issuerSite looks for an oauth_server that the issuer's address does not lead to.
func (f *file) issuerSite() (out adminapi.Findings) {
	const check = "issuer"
	if f.issuer.Scheme == "http" {
		out.Warn(check, "for anything but trying out, use an https issuer", "the issuer %s is plain http: it works on this machine alone", f.issuer)
	}
	var served []string
	for _, name := range explain.SortedKeys(f.Servers) {
		s := f.Servers[name]
		if !s.Has("gatehouse_server") {
			continue
		}
		for _, host := range siteHosts(s, "gatehouse_server") {
			if host == "" || strings.EqualFold(host, f.issuer.Hostname()) || strings.Contains(host, "*") {
				return out
			}
			served = append(served, host)
		}
	}
	if len(served) > 0 {
		out.Fail(check, "make the issuer the address of the site with `oauth_server`, as browsers and clients reach it", "the issuer is %s, and oauth_server is on %s: every token names an issuer that does not answer", f.issuer, strings.Join(served, ", "))
	}
	return out
}

// siteHosts are the hosts of the sites of a server that have a handler; "" is every host.
func siteHosts(s explain.Server, handler string) (all []string) {
	for _, rt := range s.Routes {
		if !(explain.Server{Routes: []routes.Route{rt}, NamedRoutes: s.NamedRoutes}).Has(handler) {
			continue
		}
		hosts, _ := rt.Hosts()
		if len(hosts) == 0 {
			hosts = []string{""}
		}
		all = append(all, hosts...)
	}
	return all
}

// plaintextGuards looks for guards whose tokens travel in plaintext.
func (f *file) plaintextGuards() (out adminapi.Findings) {
	for _, name := range explain.SortedKeys(f.Servers) {
		s := f.Servers[name]
		if !s.Plain() || proxiesOf(s).Trusted() || !s.Has("gatehouse_guard") {
			continue
		}
		hosts := slices.DeleteFunc(f.plaintextHosts(s), loopback)
		if len(hosts) > 0 && !listensLocally(s) {
			out.Warn("tls", "remove `http://` from the site's address, so that Caddy gets a certificate, or name the proxy that ends TLS in front with `servers { trusted_proxies static ... }`",
				"server %s (%s) takes tokens for %s without TLS: whoever sees the traffic can use them", name, strings.Join(s.Listen, " "), strings.Join(hosts, ", "))
		}
	}
	return out
}

// plaintextHosts are the hosts of sites with a guard. Of an https issuer, those with oauth_server in front are left out: it refuses
// plaintext by itself.
func (f *file) plaintextHosts(s explain.Server) (all []string) {
	for _, site := range sites.Of(s.Routes) {
		if f.issuer.Scheme == "https" && serverInFront(site, s.NamedRoutes, 0) {
			continue
		}
		all = append(all, siteHosts(explain.Server{Routes: site, NamedRoutes: s.NamedRoutes}, "gatehouse_guard")...)
	}
	return all
}

// serverInFront reports whether every request to a site comes to oauth_server before any guard. Hosts may be all that a matcher
// looks at around the whole site.
func serverInFront(list []routes.Route, named map[string]routes.Route, depth int) bool {
	for _, rt := range list {
		if _, restricted := rt.Hosts(); restricted || len(rt.Match) > 0 && (depth > 0 || len(list) > 1) {
			if (explain.Server{Routes: []routes.Route{rt}, NamedRoutes: named}).Has("gatehouse_guard") {
				return false
			}
			continue
		}
		for _, raw := range rt.Handle {
			h, _ := routes.ReadHandler(raw)
			inner := h.Routes
			if h.Handler == "invoke" {
				inner = []routes.Route{named[h.Name]}
			}
			switch {
			case h.Handler == "gatehouse_server", depth < routes.MaxInvocations && serverInFront(inner, named, depth+1):
				return true
			case h.Handler == "gatehouse_guard", (explain.Server{Routes: inner}).Has("gatehouse_guard"):
				return false
			}
		}
	}
	return false
}

// loopback reports whether a host is this machine; "" is every host.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
}

func listensLocally(s explain.Server) bool {
	return !slices.ContainsFunc(s.Listen, func(l string) bool {
		at, err := caddy.ParseNetworkAddress(l)
		return err != nil || !at.IsUnixNetwork() && !loopback(at.Host)
	})
}

// unguardedProxies looks for sites that pass requests on and ask nobody for a token.
func (f *file) unguardedProxies() (out adminapi.Findings) {
	for _, name := range explain.SortedKeys(f.Servers) {
		s := f.Servers[name]
		for _, rt := range s.Routes {
			one := explain.Server{Routes: []routes.Route{rt}, NamedRoutes: s.NamedRoutes}
			if !one.Has("reverse_proxy") && !one.Has("gatehouse_proxy") || slices.ContainsFunc([]string{"gatehouse_guard", "authentication", "gatehouse_server", "gatehouse_rest"}, one.Has) || asksElsewhere(one) {
				continue
			}
			hosts, _ := rt.Hosts()
			site := strings.Join(append(hosts, s.Listen...), " ")
			out.Warn("guard", "put `oauth_guard` into the site; where everybody may use what is behind it, this is as it should be", "the site %s passes requests on, and has no oauth_guard: nobody needs a token there", site)
			at(out, f.places.of("reverse_proxy", "api_proxy"))
		}
	}
	return out
}

// asksElsewhere reports whether a forward_auth is there.
func asksElsewhere(s explain.Server) bool {
	for raw := range s.All("reverse_proxy") {
		if h, ok := routes.ReadHandler(raw); ok && onlyAsks(h) {
			return true
		}
	}
	return false
}

// ruleScopes looks for scopes that rules require and no client may have.
func (f *file) ruleScopes() (out adminapi.Findings) {
	if len(f.App.Clients) == 0 || f.App.Registration != nil {
		return nil // they are in the store
	}
	var allowed, told []string
	for _, c := range f.App.Clients {
		allowed = append(allowed, c.Scopes...)
	}
	for g := range f.guards() {
		for _, rule := range g.Rules {
			for _, scope := range rule.Scopes {
				if slices.Contains(allowed, scope) || slices.Contains(told, scope) || slices.Contains(oauth.VariantBScopes, scope) {
					continue
				}
				told = append(told, scope)
				out.Warn("scopes", "add it to `scopes` of a client, or correct the rule; a client in the store may have it", "%s requires the scope %s, which no client of the configuration may ask for", g.where, scope)
				at(out, f.places.after("scope", scope))
			}
		}
	}
	return out
}

// clients looks at what clients of the configuration may do.
func (f *file) clients() (out adminapi.Findings) {
	for _, c := range f.App.Clients {
		if c.Public && c.Trusted {
			out.Warn("clients", "remove `trusted`: people should see who asks", "client %s is public and trusted: any program can pose as it, and nobody is asked", c.ID)
			at(out, f.places.after("client", c.ID))
		}
	}
	return out
}

// leastVariety is how many different characters a made secret has at least: 32 hexadecimal digits have fewer than 8
// in one of a million cases.
const leastVariety = 8

// weakSecrets looks for secrets that were typed instead of made. The length was checked before.
func (f *file) weakSecrets() (out adminapi.Findings) {
	for i, t := range f.places.tokens[:max(0, len(f.places.tokens)-1)] {
		value := f.places.tokens[i+1].Text
		if t.Text != "secret" || strings.Contains(value, "{") || f.places.tokens[i+1].Line != t.Line {
			continue
		}
		different := make(map[rune]bool)
		for _, c := range value {
			different[c] = true
		}
		lower := strings.ToLower(value)
		if len(different) < leastVariety || slices.ContainsFunc([]string{"changeme", "change-me", "password", "example", "12345678"}, func(word string) bool { return strings.Contains(lower, word) }) {
			out.Warn("secrets", "make one with `openssl rand -hex 32`, and keep it in the environment: `secret {env.WEB_SECRET}`", "a secret can be guessed: it is long, but not random")
			at(out, f.places.line(t.Line))
		}
	}
	return out
}

// adminEndpoint looks at whether commands can ask the gateway, and others cannot.
func (f *file) adminEndpoint() (out adminapi.Findings) {
	var c struct {
		Admin struct {
			Disabled bool   `json:"disabled"`
			Listen   string `json:"listen"`
		} `json:"admin"`
	}
	if json.Unmarshal(f.json, &c) != nil {
		return nil
	}
	listen, err := caddy.ParseNetworkAddress(c.Admin.Listen)
	switch {
	case c.Admin.Disabled:
		out.Warn("admin", "write `admin unix//run/caddy-admin.sock|0600` instead of `admin off`", "the admin endpoint is off: no command of `caddy gatehouse` works, and `caddy reload` neither")
	case c.Admin.Listen != "" && err == nil && !listen.IsUnixNetwork() && !loopback(listen.Host):
		out.Fail("admin", "write `admin localhost:2019` or `admin unix//run/caddy-admin.sock|0600`", "the admin endpoint listens on %s: the network can change the configuration, and the gateway's commands are refused there", c.Admin.Listen)
	}
	return out
}

// clock looks for a clock that is behind the file.
func (f *file) clock(now time.Time) (out adminapi.Findings) {
	if ahead := f.changed.Sub(now); ahead > skewLimit {
		out.Fail("clock", "set the clock with NTP: tokens are issued and judged by it", "%s was changed %v in the future: the clock of this machine is behind, or was", f.Name, ahead.Round(time.Second))
	}
	return out
}

// ports looks for addresses on which somebody else listens.
func (f *file) ports() (out adminapi.Findings) {
	tried, others := make(map[string]bool), "and no gateway answers at the admin endpoint"
	if f.running != nil {
		others = "and not the running gateway"
	}
	for _, name := range explain.SortedKeys(f.Servers) {
		for _, l := range f.Servers[name].Listen {
			address, err := caddy.ParseNetworkAddress(l)
			if err != nil || address.IsUnixNetwork() || address.IsFdNetwork() || address.PortRangeSize() != 1 || tried[l] || f.holds(address.StartPort) {
				continue
			}
			tried[l] = true
			listener, err := net.Listen("tcp", address.JoinHostPort(0))
			if err == nil {
				_ = listener.Close()
				continue
			}
			switch {
			case errors.Is(err, syscall.EADDRINUSE):
				out.Fail("ports", "end what `ss -ltnp` shows there, or change the site's port", "another process listens on %s, %s", l, others)
			case errors.Is(err, syscall.EADDRNOTAVAIL):
				out.Fail("ports", "correct `bind`, or bring the address up", "%s is no address of this machine", l)
			case errors.Is(err, os.ErrPermission):
				out.Warn("ports", "run Caddy as a service with CAP_NET_BIND_SERVICE, as its systemd unit does", "%s may not be listened on by this user", l)
			}
		}
	}
	return out
}

// holds reports whether the running gateway listens on a port itself.
func (f *file) holds(port uint) bool {
	if f.running == nil {
		return false
	}
	for _, s := range f.running.Servers {
		if s.ListensOn(port) {
			return true
		}
	}
	return false
}
