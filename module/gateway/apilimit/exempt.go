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
			l.ranges = append(l.ranges, prefix.Masked())
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
	if len(l.ranges) == 0 {
		return false
	}
	addr, err := netip.ParseAddr(handler.ClientIP(r))
	return err == nil && slices.ContainsFunc(l.ranges, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}
