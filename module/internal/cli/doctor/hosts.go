package doctor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/cli/doctor/sites"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

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
	patterns := sites.Hosts(site)
	all := slices.Concat(patterns, slices.DeleteFunc(slices.Clone(named), func(host string) bool {
		return slices.Contains(patterns, host) || patterns != nil && !slices.ContainsFunc(patterns, func(p string) bool { return sites.HostMatches(p, host) })
	}))
	if patterns == nil {
		all = append(all, "")
	}
	at := make(map[string]int) // by the patterns that match
	for _, host := range all {
		var matching strings.Builder
		for i, p := range named {
			if sites.HostMatches(p, host) {
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
		return slices.ContainsFunc(hosts, func(p string) bool { return sites.HostMatches(p, host) })
	}
	if _, named := set["host"]; named && !among(hostsIn(set)) {
		return false
	}
	return !slices.ContainsFunc(inverted(set["not"]), func(not map[string]json.RawMessage) bool { return onlyHosts(not) && among(hostsIn(not)) })
}

func onlyHosts(set map[string]json.RawMessage) bool { return len(set) == 1 && set["host"] != nil }
