package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway/restapi"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
	"github.com/gatehouse/gatehouse/module/rest/job"
)

// Examine looks at each api_rest: who may change what it declares, which members, what is over, and where
// its files may come from.
func Examine(c *explain.Configuration, now time.Time) (out adminapi.Findings) {
	n := 0
	for _, name := range explain.SortedKeys(c.Servers) {
		s := c.Servers[name]
		for _, rt := range s.Routes {
			one := explain.Server{Routes: []routes.Route{rt}, NamedRoutes: s.NamedRoutes}
			for raw := range one.All("gatehouse_rest") {
				var h restapi.REST
				if json.Unmarshal(raw, &h) != nil {
					continue
				}
				n++
				where := fmt.Sprintf("an api_rest of server %s (%s)", name, strings.Join(one.Hosts(explain.Question{}), " "))
				out = slices.Concat(out, open(c, name, s, one, &h, where), unlisted(&h, where), ended(&h, where, now))
				for _, j := range h.Jobs {
					out = append(out, opened(j, where)...)
				}
			}
		}
	}
	if n > 0 && len(out) == 0 {
		out.OK("rest", "nobody changes what %d api_rest declare without a scope", n)
	}
	return out
}

// unlisted are the resources that keep one member from clients but let them send any other.
func unlisted(h *restapi.REST, where string) (out adminapi.Findings) {
	var found []string
	for _, p := range restapi.WithoutList(h) {
		found = append(found, fmt.Sprintf("%s (%s)", p.Resource, p.Member))
	}
	if len(found) > 0 {
		out.Warn("rest", "list what clients may send: `validate * readonly` beside a `validate` for each such member",
			"%s: clients may send members that no rule names, although one is kept from them: %s", where, several(found))
	}
	return out
}

// ended are the versions whose day has passed, and that are answered all the same.
func ended(h *restapi.REST, where string, now time.Time) (out adminapi.Findings) {
	for _, v := range h.Versions {
		if !v.Sunset.IsZero() && !v.Gone && now.After(v.Sunset) {
			out.Warn("rest", "write `gone` into the version, put its `sunset` off, or remove it",
				"%s: version %s has ended on %s, and is answered as before", where, v.Name, v.Sunset.UTC().Format(time.DateOnly))
		}
	}
	return out
}

// metadata is where clouds keep the credentials of a machine.
var metadata = netip.MustParseAddr("169.254.169.254")

// opened are the networks that whoever may make a job can reach through it.
func opened(j job.Config, where string) (out adminapi.Findings) {
	if j.Fetch == nil {
		return nil
	}
	var private []string
	for _, text := range slices.Concat(j.Fetch.Allow, j.Fetch.Insecure) {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			addr, err := netip.ParseAddr(text)
			if err != nil {
				continue
			}
			p = netip.PrefixFrom(addr, addr.BitLen())
		}
		if p.Contains(metadata) {
			out.Fail("rest", "name the servers that files come from, each by its own range",
				"%s: job %s may fetch files from %s, which has %s in it: whoever makes a job can read the credentials of this machine in a cloud", where, j.Path, text, metadata)
			return out
		}
		private = append(private, text)
	}
	if len(private) > 0 {
		out.Warn("rest", "see that nothing there trusts its network, or remove the ranges from `allow` and `insecure`",
			"%s: whoever makes a job %s can name an address in %s, and the gateway fetches it", where, j.Path, strings.Join(private, ", "))
	}
	return out
}

// change is a declared request that changes something.
type change struct{ method, path, sample string }

// maxChanges bounds how many declared requests are asked about.
const maxChanges = 200

// changes are those of all versions.
func changes(h *restapi.REST) (all []change) {
	versions := []string{""}
	for _, v := range h.Versions {
		versions = append(versions, v.Name)
	}
	for _, v := range versions {
		prefix := ""
		if v != "" {
			prefix = "/" + v
		}
		for _, r := range h.Requests(v) {
			if r.Method != http.MethodGet && len(all) < maxChanges {
				all = append(all, change{r.Method, prefix + r.Path, prefix + r.Sample})
			}
		}
	}
	return all
}

// open asks each change as somebody without a token would, and as one whose token has no
// scope, along the way that explain follows. What it cannot decide is no finding.
func open(config *explain.Configuration, name string, s, one explain.Server, h *restapi.REST, where string) (out adminapi.Findings) {
	var nobody, unscoped []string
	guarded := false
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	for _, c := range changes(h) {
		for _, host := range one.Hosts(explain.Question{}) {
			for _, prefix := range append([]string{""}, pathPrefixes(one)...) {
				line := c.method + " " + prefix + c.path
				if slices.Contains(nobody, line) || slices.Contains(unscoped, line) {
					continue
				}
				q := explain.Question{Method: c.method, Scheme: "https", Host: cmp.Or(host, "localhost"), Target: prefix + c.sample}
				reached, judged := reaches(ctx, config, name, s, host, q)
				if reached {
					nobody, guarded = append(nobody, line), guarded || judged
					continue
				}
				q.Scopes = []string{}
				if reached, judged = reaches(ctx, config, name, s, host, q); reached && judged {
					unscoped = append(unscoped, line)
				}
			}
		}
	}
	if len(nobody) > 0 {
		remedy, also := "put `oauth_guard` in front of it", ""
		if guarded {
			remedy = "give the methods that change something a `scope` in the guard's rules"
		}
		if h.OpenAPI != nil && !guarded {
			also = ", and `openapi` tells everybody how"
		}
		out.Warn("rest", remedy, "%s: nobody needs a token for %s%s", where, several(nobody), also)
	}
	if len(unscoped) > 0 {
		out.Warn("rest", "give them a `scope` in the guard's rules, as in `scope articles:write POST,PUT,PATCH,DELETE /articles/*`",
			"%s: any valid token is enough for %s", where, several(unscoped))
	}
	return out
}

// reaches reports whether a request comes to an api_rest that declares it, and whether a
// guard judged it.
func reaches(ctx caddy.Context, config *explain.Configuration, name string, s explain.Server, host string, q explain.Question) (reached, judged bool) {
	e := explain.New(ctx, config, q)
	at, err := e.Ask(name, s, host)
	if err != nil || at == nil || e.Elsewhere {
		return false, false
	}
	for _, v := range at.Guards {
		if v.Shadow || v.Words == explain.NoRules {
			return false, false // said already
		}
	}
	return e.Declared, len(at.Guards) > 0
}

// several names the first of them.
func several(all []string) string {
	const most = 3
	if len(all) <= most {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
}

// pathPrefixes are what matchers of paths have in front of a wildcard: handle_path takes it away.
func pathPrefixes(s explain.Server) (all []string) {
	for _, rt := range s.Routes {
		all = append(all, prefixes(rt)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func prefixes(rt routes.Route) (all []string) {
	for _, set := range rt.Match {
		var paths []string
		if json.Unmarshal(set["path"], &paths) != nil {
			continue
		}
		for _, path := range paths {
			if prefix, ok := strings.CutSuffix(path, "/*"); ok && prefix != "" && !strings.Contains(prefix, "*") {
				all = append(all, prefix)
			}
		}
	}
	for _, raw := range rt.Handle {
		h, _ := routes.ReadHandler(raw)
		for _, below := range h.Routes {
			all = append(all, prefixes(below)...)
		}
	}
	return all
}
