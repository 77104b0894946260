package explain

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// publicAddress returns the address under which clients reach a host of a server, without a
// path; "" for a server that answers for any host. Behind a proxy that is another than the
// one that Caddy listens on: the issuer and the audiences of guards tell it. Otherwise
// http_port and https_port stand for 80 and 443, as they do where Caddy redirects.
func (e *Explainer) publicAddress(s Server, host string) string {
	if host == "" {
		return ""
	}
	if origin := originOf(e.issuer, host); origin != "" && s.Has("gatehouse_server") {
		return origin
	}
	for raw := range s.All("gatehouse_guard") {
		if _, c, err := e.policy(raw); err == nil && c.Audience != e.issuer {
			if origin := originOf(c.Audience, host); origin != "" {
				return origin
			}
		}
	}
	scheme, usual := "https", s.httpsPort
	if s.Plain() {
		scheme, usual = "http", s.httpPort
	}
	for _, l := range s.Listen {
		at, err := caddy.ParseNetworkAddress(l)
		if err != nil || at.IsUnixNetwork() || at.IsFdNetwork() {
			continue
		}
		if at.StartPort != usual {
			return scheme + "://" + net.JoinHostPort(host, strconv.FormatUint(uint64(at.StartPort), 10))
		}
		break
	}
	return scheme + "://" + host
}

// originOf returns scheme, host and port of an address that has the host, "" for others.
func originOf(address, host string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() != host {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// asked are the names of the servers that the question is about: all of them for a path alone,
// else those that listen for the address. A server that only says it is reached there, such as one
// behind a proxy, is asked as well, unless one that listens names the host: several sites may
// have one audience.
func (e *Explainer) asked(c *Configuration) []string {
	if e.q.Host == "" {
		return SortedKeys(c.Servers)
	}
	var listening, reached []string
	named := false
	for _, name := range SortedKeys(c.Servers) {
		switch s := c.Servers[name]; {
		case s.ListensFor(e.q):
			listening = append(listening, name)
			named = named || s.names(e.q.Host)
		case e.reachedAs(s, e.q):
			reached = append(reached, name)
		}
	}
	if named {
		return listening
	}
	return append(listening, reached...)
}

// names reports whether the routes of a server name a host, which may have a port.
func (s Server) names(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	for _, rt := range s.Routes {
		for _, set := range rt.Match {
			var named caddyhttp.MatchHost
			if json.Unmarshal(set["host"], &named) != nil || named.Provision(caddy.Context{}) != nil {
				continue
			}
			r := &http.Request{Host: host, URL: new(url.URL), Header: make(http.Header)}
			if matches, err := named.MatchWithError(prepared(r)); err == nil && matches {
				return true
			}
		}
	}
	return false
}

// reachedAs reports whether clients reach a server under the address that was asked for,
// though it does not listen there.
func (e *Explainer) reachedAs(s Server, q Question) bool {
	for _, host := range s.Hosts(Question{}) {
		if e.publicAddress(s, host) == q.Scheme+"://"+q.Host {
			return true
		}
	}
	return false
}

// NoSite says why no site explains a request, and which sites there are.
func NoSite(q Question, c *Configuration) string {
	if q.Host == "" {
		return "no site of this configuration has a guard"
	}
	var sites []string
	e := New(caddy.Context{}, c, q)
	for _, name := range SortedKeys(c.Servers) {
		s := c.Servers[name]
		for _, host := range s.Hosts(Question{}) {
			sites = append(sites, SiteText(e.publicAddress(s, host), s.Listen))
		}
	}
	return fmt.Sprintf("no site of this configuration listens for %s://%s; there are: %s", q.Scheme, q.Host, strings.Join(sites, ", "))
}

// SiteText names the address of a site and where Caddy listens for it.
func SiteText(address string, listen []string) string {
	on := strings.Join(listen, " ")
	if address == "" {
		return on
	}
	return address + " (Caddy listens on " + on + ")"
}
