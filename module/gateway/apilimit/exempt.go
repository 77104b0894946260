package apilimit

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

// buildExempt separates Exempt into clients and address ranges; a single address is a range.
// unknownClient reports ids that no configured client has.
func (l *Limit) buildExempt(unknownClient func(id string) bool) error {
	l.clients = make(map[string]bool)
	for _, e := range l.Exempt {
		prefix, err := netip.ParsePrefix(e)
		if addr, notAddr := netip.ParseAddr(e); notAddr == nil && addr.Zone() == "" {
			prefix, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
		}
		switch {
		case err == nil:
			l.ranges.add(prefix.Masked())
		case unknownClient(e):
			return fmt.Errorf("api_limit: exempt %s: expected a declared client, an address or a range such as 10.0.0.0/8", e)
		default:
			l.clients[e] = true
		}
	}
	return nil
}

func (l *Limit) exempt(r *http.Request, access *token.Access) bool {
	if access != nil && l.clients[access.Client] {
		return true
	}
	if len(l.ranges.all) == 0 {
		return false
	}
	addr, err := netip.ParseAddr(handler.ClientIP(r))
	return err == nil && l.ranges.contains(addr.Unmap())
}

// prefixSet is a set of address ranges. A lookup takes a step for each length of a prefix in it, however
// many ranges have that length.
type prefixSet struct {
	lengths []int
	all     map[netip.Prefix]bool
}

// add adds a range, which must be masked.
func (s *prefixSet) add(p netip.Prefix) {
	if s.all == nil {
		s.all = make(map[netip.Prefix]bool)
	}
	s.all[p] = true
	if !slices.Contains(s.lengths, p.Bits()) {
		s.lengths = append(s.lengths, p.Bits())
	}
}

// contains is netip.Prefix.Contains for any of the ranges.
func (s *prefixSet) contains(addr netip.Addr) bool {
	return addr.Zone() == "" && slices.ContainsFunc(s.lengths, func(bits int) bool {
		p, err := addr.Prefix(bits)
		return err == nil && s.all[p]
	})
}
