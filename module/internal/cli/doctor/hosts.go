package doctor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// hostsOf returns the patterns of the hosts of a site, nil for every host.
func hostsOf(site []routes.Route) (all []string) {
	for _, rt := range site {
		own, _ := rt.Hosts()
		if own == nil {
			return nil
		}
		all = append(all, own...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// hostsApart groups the hosts of a site by what its matchers say of them; "" is any host that none names.
func hostsApart(s explain.Server, site []routes.Route) (groups [][]string) {
	inner := site
	if len(site) == 1 {
		inner = []routes.Route{{Handle: site[0].Handle}}
	}
	named := hostsNamed(inner)
	for _, rt := range s.NamedRoutes {
		named = append(named, hostsNamed([]routes.Route{rt})...)
	}
	slices.Sort(named)
	named = slices.Compact(named)
	patterns := hostsOf(site)
	all := slices.Concat(patterns, slices.DeleteFunc(slices.Clone(named), func(host string) bool {
		return slices.Contains(patterns, host) || patterns != nil && !slices.ContainsFunc(patterns, func(p string) bool { return hostMatches(p, host) })
	}))
	if patterns == nil {
		all = append(all, "")
	}
	at := make(map[string]int) // by the patterns that match
	for _, host := range all {
		var matching strings.Builder
		for i, p := range named {
			if hostMatches(p, host) {
				fmt.Fprintf(&matching, "%d ", i)
			}
		}
		i, known := at[matching.String()]
		if !known {
			i, groups = len(groups), append(groups, nil)
			at[matching.String()] = i
		}
		groups[i] = append(groups[i], host)
	}
	return groups
}

// hostsNamed returns the hosts that matchers in and below routes name.
func hostsNamed(list []routes.Route) (all []string) {
	for _, rt := range list {
		for _, set := range rt.Match {
			for _, one := range append(inverted(set["not"]), set) {
				all = append(all, hostsIn(one)...)
			}
		}
		for _, raw := range rt.Handle {
			if h, ok := routes.ReadHandler(raw); ok {
				all = append(all, hostsNamed(h.Routes)...)
			}
		}
	}
	return all
}

func hostsIn(set map[string]json.RawMessage) (all []string) {
	_ = json.Unmarshal(set["host"], &all) // none if it cannot be read
	for i, host := range all {
		all[i] = strings.ToLower(host)
	}
	return all
}

// hostMatches reports whether a pattern matches a host, as Caddy's matcher does; the host may be the same pattern.
func hostMatches(pattern, host string) bool {
	if pattern == host {
		return true
	}
	labels, of := strings.Split(pattern, "."), strings.Split(host, ".")
	if len(labels) != len(of) || host == "" {
		return false
	}
	for i, label := range labels {
		if label != of[i] && label != "*" {
			return false
		}
	}
	return true
}

// forHost returns matchers without what they say of hosts. excluded says that they let no request for the host through.
func forHost(sets matcherSets, host string) (rest matcherSets, excluded bool) {
	for _, set := range sets {
		if !admitsHost(set, host) {
			continue
		}
		others := maps.Clone(set)
		delete(others, "host")
		if not := slices.DeleteFunc(inverted(set["not"]), onlyHosts); set["not"] != nil && len(not) == 0 {
			delete(others, "not")
		}
		if len(others) == 0 {
			return nil, false
		}
		rest = append(rest, others)
	}
	return rest, len(sets) > 0 && len(rest) == 0
}

func admitsHost(set map[string]json.RawMessage, host string) bool {
	among := func(hosts []string) bool {
		return slices.ContainsFunc(hosts, func(p string) bool { return hostMatches(p, host) })
	}
	if _, named := set["host"]; named && !among(hostsIn(set)) {
		return false
	}
	return !slices.ContainsFunc(inverted(set["not"]), func(not map[string]json.RawMessage) bool { return onlyHosts(not) && among(hostsIn(not)) })
}

func onlyHosts(set map[string]json.RawMessage) bool { return len(set) == 1 && set["host"] != nil }
