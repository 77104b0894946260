package doctor

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/servers"
)

// proxiesOf says which proxies a server believes.
func proxiesOf(s explain.Server) servers.Proxies {
	told := slices.ContainsFunc(s.ListenerWrappers, func(w explain.ListenerWrapper) bool { return servers.TellsAddress(w.Module) })
	return servers.Proxies{Listen: s.Listen, TCP: len(s.TrustedProxies) > 0, Unix: s.TrustedProxiesUnix, Told: told}
}

// withoutAddress looks for servers that need the addresses of clients and do not get them.
func (p configuration) withoutAddress() (out adminapi.Findings) {
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		if listen := proxiesOf(s).WithoutAddress(); len(listen) > 0 && needsAddresses(s) {
			out.Warn("proxies", servers.WithoutAddressRemedy, "server %s (%s): %s", name, strings.Join(listen, " "), servers.WithoutAddressProblem)
		}
	}
	return out
}

// needsAddresses reports whether a handler of the server counts by the client's address.
func needsAddresses(s explain.Server) bool {
	for raw := range s.All("gatehouse_limit") {
		var limit struct {
			Policies []struct {
				By string `json:"by"`
			} `json:"policies"`
		}
		if json.Unmarshal(raw, &limit) != nil {
			continue
		}
		for _, policy := range limit.Policies {
			if policy.By == "ip" {
				return true
			}
		}
	}
	return s.Has("gatehouse_server") || s.Has("gatehouse_guard") || hasJobs(s)
}

// hasJobs reports whether an api_rest of the server has jobs, in which callers without a token have room by address.
func hasJobs(s explain.Server) bool {
	for raw := range s.All("gatehouse_rest") {
		var api struct {
			Jobs []json.RawMessage `json:"jobs"`
		}
		if json.Unmarshal(raw, &api) == nil && len(api.Jobs) > 0 {
			return true
		}
	}
	return false
}
