package gateway

import "slices"

// chosen reports whether there may be any number of keys: a `by` may be made of anything
// that a request says, and who has an IPv6 prefix has as many addresses as there are in it. Clients
// and users are registered, and rules are written.
func (p Policy) chosen() bool { return p.By == "ip" || !slices.Contains(policyKinds, p.By) }
