// Package sites divides the routes of a server into its sites, and finds the routes for their errors and responses.
package sites

import (
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// Of divides the routes of a server where a route is the last for its requests. The routes of a server's only site need not be
// in one route of their own.
func Of(list []routes.Route) (sites [][]routes.Route) {
	begin := 0
	for i, rt := range list {
		if rt.Terminal || i == len(list)-1 {
			sites, begin = append(sites, list[begin:i+1]), i+1
		}
	}
	return sites
}

// Address names a site for messages.
func Address(s explain.Server, site []routes.Route) string {
	hosts, _ := site[0].Hosts()
	return strings.Join(append(hosts, s.Listen...), " ")
}

// Hosts returns the patterns of the hosts of a site, nil for every host.
func Hosts(site []routes.Route) (all []string) {
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

// HostMatches reports whether a pattern matches a host, as Caddy's matcher does; the host may be the same pattern.
func HostMatches(pattern, host string) bool {
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

// overlap reports whether patterns of hosts have a host in common; nil are all hosts.
func overlap(a, b []string) bool {
	return a == nil || b == nil || slices.ContainsFunc(a, func(one string) bool {
		return slices.ContainsFunc(b, func(other string) bool { return HostMatches(one, other) || HostMatches(other, one) })
	})
}
