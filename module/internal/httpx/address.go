package httpx

import "net/netip"

// AddressKey is the form in which a client's address is counted: IPv4 as it is, IPv6
// by its /64, because one customer usually has that many and would otherwise have as
// many counts. IPv4-mapped IPv6 is IPv4, a zone is dropped. All that is no address
// shares "unknown".
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
