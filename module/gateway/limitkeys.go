package gateway

import (
	"slices"
	"strings"
)

// warnOfUnboundedKeys warns of a policy whose keys clients choose, where the counts are in
// memory that the gateway does not bound: whoever sends ever new keys fills it. A request
// that another policy of the same handler refuses is counted nowhere, so a limit on
// addresses, callers or everything bounds the keys too.
func (l *Limit) warnOfUnboundedKeys() {
	if _, bounded := l.app.limiter.plugin.(*MemoryLimiter); bounded || slices.ContainsFunc(l.Policies, Policy.boundsKeys) {
		return
	}
	for _, p := range l.Policies {
		if p.clientsChoose() {
			l.log.Warn("api_limit: clients choose the key of a policy, and each key takes memory of the limiter until its window is over: "+
				"add an ip, client or all policy to this api_limit, which bounds how many keys they can send", "policy", p.Name, "by", p.By)
		}
	}
}

// boundsKeys reports whether the policy refuses requests whatever keys clients make up.
func (p Policy) boundsKeys() bool {
	return slices.Contains(policyKinds, p.By) && p.By != "route" && !p.DryRun
}

// clientsChoose reports whether the key of the policy is made of what a request says. Its
// address is not: it is as hard to choose as for an ip policy.
func (p Policy) clientsChoose() bool {
	const request = "{http.request."
	for _, placeholder := range strings.SplitAfter(p.By, "}") {
		if i := strings.Index(placeholder, request); i >= 0 && !strings.HasPrefix(placeholder[i+len(request):], "remote") {
			return true
		}
	}
	return false
}
