package job

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
	"golang.org/x/net/idna"
)

const maxAddress = 2048

// errForbidden: no file may be fetched from this address. errUnfit: the text is not an address
// of the permitted form.
var (
	errForbidden = errors.New("job: an address that is not fetched from")
	errUnfit     = errors.New("job: not an https address, or http where that is permitted, without user and password")
)

// addresses decides which addresses files may be fetched from. A name is judged by the address
// that a connection is made to: what it resolves to may change in between (DNS rebinding), and
// one address has many spellings.
type addresses struct {
	guard    *ssrf.Guardian // for https
	insecure []netip.Prefix // the only ones for http
	resolver *net.Resolver
}

func newAddresses(allow, insecure []netip.Prefix, resolver *net.Resolver) *addresses {
	var v4, v6 []netip.Prefix
	for _, p := range slices.Concat(allow, insecure) {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	return &addresses{
		guard:    ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...)),
		insecure: insecure,
		resolver: resolver,
	}
}

// parse reads an address and refuses what can be refused without resolving names.
func (a *addresses) parse(text string) (*url.URL, error) {
	if len(text) > maxAddress || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, errUnfit
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errUnfit
	}
	return u, a.check(u)
}

func (a *addresses) check(u *url.URL) error {
	host := u.Hostname()
	plain := u.Scheme == "http" && len(a.insecure) > 0
	if u.Scheme != "https" && !plain || u.Opaque != "" || u.User != nil || host == "" {
		return errUnfit
	}
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return errUnfit
		}
	}
	u.Fragment, u.RawFragment = "", ""
	// What net/http will make of it: fullwidth digits become digits.
	host, err := ascii(host)
	if err != nil || host == "" {
		return errUnfit
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return a.permit(u.Scheme, addr)
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	switch {
	case numeric(name):
		return errForbidden // 2130706433, 0177.0.0.1, 0x7f.1, 127.1: an address in disguise
	case name == "localhost" || strings.HasSuffix(name, ".localhost"): // RFC 6761, section 6.3
		if a.permit(u.Scheme, netip.IPv6Loopback()) != nil {
			return a.permit(u.Scheme, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
		}
	}
	return nil
}

func ascii(host string) (string, error) {
	for i := range len(host) {
		if host[i] >= 0x80 {
			return idna.Lookup.ToASCII(host)
		}
	}
	return host, nil
}

// numeric reports a host that ends in a number, which nothing but an IPv4 address does
// (WHATWG URL, section 3.5).
func numeric(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// permit decides about an address that is connected to with a scheme.
func (a *addresses) permit(scheme string, addr netip.Addr) error {
	if scheme == "http" {
		addr = addr.Unmap()
		if !slices.ContainsFunc(a.insecure, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			return errForbidden
		}
		return nil
	}
	if a.guard.SafeAddr(addr.Unmap()) != nil {
		return errForbidden
	}
	return nil
}

// insecurely is the Control of a [net.Dialer] for http: only the named ranges are reached,
// whatever name, spelling or redirect led there.
func (a *addresses) insecurely(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" {
		return errForbidden
	}
	return a.permit("http", to.Addr())
}

// look resolves a name in advance, to report a mistake at once. It refuses names all of whose
// addresses are forbidden, and nothing else: the connection is checked again.
func (a *addresses) look(ctx context.Context, u *url.URL) error {
	host, err := ascii(u.Hostname())
	if err != nil {
		return errUnfit
	}
	found, err := a.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(found) == 0 {
		return nil
	}
	for _, addr := range found {
		if a.permit(u.Scheme, addr) == nil {
			return nil
		}
	}
	return errForbidden
}
