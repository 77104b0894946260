package fileurl

import (
	"context"
	"errors"
	"fmt"
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

const maxLength = 2048

// ErrForbidden: files must not be fetched from this address. ErrUnfit: the text is not a URL of
// the permitted form.
var (
	ErrForbidden = errors.New("file URL: fetching from this address is not permitted")
	ErrUnfit     = errors.New("file URL: expected an https URL, or http where that is permitted, without user and password")
)

// Policy decides which addresses files may be fetched from. A name is judged by the address
// that the connection is made to: name resolution may change in between (DNS rebinding), and an
// address can be spelled in many ways.
type Policy struct {
	guard    *ssrf.Guardian // for https
	insecure []netip.Prefix // the only ones for http
	resolver *net.Resolver
}

// New permits public addresses and the ranges in allow by https, and those in insecure by http too. Names are resolved by resolver, or
// by the system's if it is nil.
func New(allow, insecure []netip.Prefix, resolver *net.Resolver) *Policy {
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
	return &Policy{
		guard:    ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...)),
		insecure: insecure,
		resolver: resolver,
	}
}

// Parse parses a URL and refuses what can be refused without resolving names.
func (p *Policy) Parse(text string) (*url.URL, error) {
	if len(text) > maxLength || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, ErrUnfit
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, ErrUnfit
	}
	return u, p.Check(u)
}

// Check checks a URL as Parse does, and removes its fragment.
func (p *Policy) Check(u *url.URL) error {
	host := u.Hostname()
	plain := u.Scheme == "http" && len(p.insecure) > 0
	if u.Scheme != "https" && !plain || u.Opaque != "" || u.User != nil || host == "" {
		return ErrUnfit
	}
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return ErrUnfit
		}
	}
	u.Fragment, u.RawFragment = "", ""
	// Normalize as net/http will: fullwidth digits become digits.
	host, err := ascii(host)
	if err != nil || host == "" {
		return ErrUnfit
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return p.connection(u.Scheme, addr)
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	switch {
	case isNumeric(name):
		return ErrForbidden // 2130706433, 0177.0.0.1, 0x7f.1, 127.1: other spellings of an IPv4 address
	case name == "localhost" || strings.HasSuffix(name, ".localhost"): // RFC 6761, section 6.3
		if p.connection(u.Scheme, netip.IPv6Loopback()) != nil {
			return p.connection(u.Scheme, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
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

// isNumeric reports whether a host ends in a number, which only IPv4 addresses do (WHATWG URL,
// section 3.5).
func isNumeric(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// connection decides whether a connection to an address may be made for a scheme.
func (p *Policy) connection(scheme string, addr netip.Addr) error {
	if scheme == "http" {
		addr = addr.Unmap()
		if !slices.ContainsFunc(p.insecure, func(r netip.Prefix) bool { return r.Contains(addr) }) {
			return ErrForbidden
		}
		return nil
	}
	if p.guard.SafeAddr(addr.Unmap()) != nil {
		return ErrForbidden
	}
	return nil
}

// ControlSecure is the Control of a [net.Dialer] for https.
func (p *Policy) ControlSecure(network, address string, c syscall.RawConn) error {
	if err := p.guard.Safe(network, address, c); err != nil {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	return nil
}

// ControlInsecure is the Control of a [net.Dialer] for http: only the configured ranges can be
// reached, whatever name, spelling or redirect led there.
func (p *Policy) ControlInsecure(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" {
		return ErrForbidden
	}
	return p.connection("http", to.Addr())
}

// CheckResolution resolves a name in advance, to report a mistake at once. It refuses a name
// only if all its addresses are forbidden: the connection is checked again.
func (p *Policy) CheckResolution(ctx context.Context, u *url.URL) error {
	host, err := ascii(u.Hostname())
	if err != nil {
		return ErrUnfit
	}
	found, err := p.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(found) == 0 {
		return nil
	}
	for _, addr := range found {
		if p.connection(u.Scheme, addr) == nil {
			return nil
		}
	}
	return ErrForbidden
}
