package fairshare

import "net/netip"

// Source is where a request comes from: an address and the networks around it. An IPv6
// customer has at least a /64, often a /56 or a /48, and a /32 costs a small provider
// little, so each of these counts as one; so do IPv4's /24 and /16. All that is no address
// is one source.
type Source struct {
	groups [4]netip.Prefix // the narrowest first; the zero value for none
}

// step is a size of networks. Of the reserve a network may have one part in so many, and
// at least least units; weight is how many turns count as one.
type step struct{ bits, part, least, weight int }

const whole = 1 << 30 // the part of an address: least units and no more

var (
	steps4 = [...]step{{32, whole, 1, 1}, {24, 64, 4, 4}, {16, 16, 16, 16}}
	steps6 = [...]step{{64, whole, 1, 1}, {56, 128, 2, 2}, {48, 64, 4, 4}, {32, 16, 16, 16}}
	steps0 = [...]step{{0, whole, 1, 1}} // of what is no address
)

// From returns the source of an address without port. IPv4-mapped IPv6 is IPv4, a zone is
// dropped.
func From(ip string) Source {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return Source{}
	}
	addr = addr.WithZone("").Unmap()
	var s Source
	for i, step := range stepsOf(addr) {
		s.groups[i] = netip.PrefixFrom(addr, step.bits).Masked()
	}
	return s
}

func (s Source) address() netip.Prefix { return s.groups[0] }

func (s Source) steps() []step { return stepsOf(s.groups[0].Addr()) }

// Networks returns the address (IPv6: its /64) and the networks around it, the narrowest
// first, none for what is no address.
func (s Source) Networks() []netip.Prefix {
	n := 0
	for n < len(s.groups) && s.groups[n].IsValid() {
		n++
	}
	return s.groups[:n]
}

func stepsOf(addr netip.Addr) []step {
	switch {
	case !addr.IsValid():
		return steps0[:]
	case addr.Is4():
		return steps4[:]
	}
	return steps6[:]
}
