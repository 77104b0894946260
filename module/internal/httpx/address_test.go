package httpx

import "testing"

func TestAddressKeys(t *testing.T) { // L07
	for _, c := range []struct{ name, ip, want string }{
		{"IPv4", "192.0.2.7", "192.0.2.7"},
		{"IPv4-mapped", "::ffff:192.0.2.7", "192.0.2.7"},
		{"IPv4-mapped in hex", "::FFFF:c000:0207", "192.0.2.7"},
		{"IPv4-mapped with a zone", "::ffff:192.0.2.7%eth0", "192.0.2.7"},
		{"IPv6", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"IPv6, same network", "2001:DB8:1:2:ffff::1", "2001:db8:1:2::/64"},
		{"IPv6, next network", "2001:db8:1:3::1", "2001:db8:1:3::/64"},
		{"IPv6 with a zone", "fe80::1%eth0", "fe80::/64"},
		{"loopback", "::1", "::/64"},
		{"empty", "", "unknown"},
		{"a port", "192.0.2.7:80", "unknown"},
		{"brackets", "[2001:db8::1]", "unknown"},
		{"leading zeros", "192.0.02.7", "unknown"},
		{"a list", "192.0.2.7, 192.0.2.8", "unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := AddressKey(c.ip); got != c.want {
				t.Fatalf("AddressKey(%q) = %q, want %q", c.ip, got, c.want)
			}
		})
	}
}
