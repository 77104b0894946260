package apilimit

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
)

// A set of ranges contains what one of the ranges contains.
func TestRangeSetContainsWhatItsRangesDo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	address := func() netip.Addr {
		four := [4]byte{10, byte(r.IntN(2)), byte(r.IntN(4)), byte(r.IntN(256))}
		sixteen := [16]byte{0x20, 1, 13: byte(r.IntN(2)), 15: byte(r.IntN(256))}
		switch r.IntN(4) {
		case 0:
			return netip.AddrFrom16(sixteen)
		case 1:
			return netip.AddrFrom16(sixteen).WithZone("eth0")
		case 2:
			return netip.AddrFrom16(netip.AddrFrom4(four).As16()) // mapped
		}
		return netip.AddrFrom4(four)
	}
	for range 2000 {
		var ranges []netip.Prefix
		var set prefixSet
		for range r.IntN(12) {
			addr := address().WithZone("")
			p := netip.PrefixFrom(addr, r.IntN(addr.BitLen()+1)).Masked()
			ranges = append(ranges, p)
			set.add(p)
		}
		addr := address()
		want := slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(addr) })
		if got := set.contains(addr); got != want {
			t.Fatalf("%v in %v: %v, want %v", addr, ranges, got, want)
		}
	}
}
