package fairshare

import "net/netip"

// Source is where a request comes from: an address and the networks around it. An IPv6 customer has
// at least a /64, often a /56 or a /48, and even a /32 costs a small provider little, so each of
// these is a network here; for IPv4 they are the /24 and the /16. Everything that is not an address
// is one source.
type Source struct {
	groups [4]netip.Prefix // the narrowest first; zero values at the end if there are fewer
}

// step is a size of network. A network may hold one part-th of the reserve, but at least least
// units; weight turns of it count as one.
type step struct{ bits, part, least, weight int }

const whole = 1 << 30 // as the part of a single address: it may hold least units and no more

var (
	steps4 = [...]step{{32, whole, 1, 1}, {24, 64, 4, 4}, {16, 16, 16, 16}}
	steps6 = [...]step{{64, whole, 1, 1}, {56, 128, 2, 2}, {48, 64, 4, 4}, {32, 16, 16, 16}}
	steps0 = [...]step{{0, whole, 1, 1}} // for what is not an address
)

// From returns the source of an address without a port. IPv4-mapped IPv6 is IPv4, and the zone is
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

// Networks returns the address (IPv6: its /64) and the networks around it, the narrowest first;
// none if the source is not an address.
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
