package httpx

import "net/netip"

// AddressKey returns the key under which a client's address is counted: an IPv4 address as it is,
// an IPv6 address as its /64. A single customer usually has a /64 and could otherwise use as many
// counters as it has addresses. IPv4-mapped IPv6 is IPv4, and the zone is dropped. Everything that
// does not parse as an address shares the key "unknown".
func AddressKey(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return "unknown"
	}
	addr = addr.WithZone("").Unmap()
	if addr.Is4() {
		return addr.String()
	}
	return netip.PrefixFrom(addr, 64).Masked().String()
}
