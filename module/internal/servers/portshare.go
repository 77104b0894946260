package servers

import (
	"net/netip"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/admin"
)

// listening is a TCP socket that listens on this machine.
type listening struct {
	at    netip.AddrPort
	inode string
}

// SharedPorts returns the addresses of this configuration on which another process listens,
// too. Caddy sets SO_REUSEPORT, so that a second gateway starts without an error, and the
// kernel gives each of them some of the connections: sessions and codes of the one are
// unknown to the other. It works before and after Caddy has opened the ports.
func (s *Servers) SharedPorts() []string {
	var ours []caddy.NetworkAddress
	for server := range s.known {
		for _, l := range server.Listen {
			if at, err := caddy.ParseNetworkAddress(l); err == nil && !at.IsUnixNetwork() && !at.IsFdNetwork() {
				ours = append(ours, at)
			}
		}
	}
	if len(ours) == 0 {
		return nil
	}
	var shared []string
	for _, l := range foreignListeners(func(at netip.AddrPort) bool {
		return slices.ContainsFunc(ours, func(o caddy.NetworkAddress) bool { return overlap(o, at) })
	}) {
		if at := l.at.String(); !slices.Contains(shared, at) {
			shared = append(shared, at)
		}
	}
	slices.Sort(shared)
	return shared
}

// overlap reports whether connections to a listener could be for an address of ours.
func overlap(ours caddy.NetworkAddress, at netip.AddrPort) bool {
	if p := uint(at.Port()); p < ours.StartPort || p > ours.EndPort || ours.StartPort == 0 {
		return false
	}
	addr := at.Addr().Unmap()
	if ours.Host == "" || addr.IsUnspecified() || ours.Host == "localhost" && addr.IsLoopback() {
		return true
	}
	own, err := netip.ParseAddr(ours.Host)
	return err == nil && (own.IsUnspecified() || own.Unmap() == addr)
}

// WarnOfSharedPorts logs that another process listens on a port, when a configuration starts.
func (s *Servers) WarnOfSharedPorts() {
	if shared := s.SharedPorts(); len(shared) > 0 {
		s.log.Warn("another process listens on a port of this gateway, and the kernel divides the connections between them: "+admin.SharedPortRemedy, "addresses", shared)
	}
}
