package servers

import (
	"net/netip"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

func TestKernelSocketTableIsParsed(t *testing.T) { // S10
	for line, want := range map[string]string{
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 31337 1 0 100 0 0 10 0":                   "127.0.0.1:8080 31337",
		"   1: 00000000000000000000000000000000:01BB 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 7 1": "[::]:443 7",
		"   2: 0100007F:1F90 0100007F:C000 01 00000000:00000000 00:00000000 00000000  1000        0 31338 1":                                  "",
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode":                                    "",
		"   0: zz:1F90 00000000:0000 0A 0 0 0 0 0 1": "",
	} {
		got := ""
		if l, ok := parseListener(line); ok {
			got = l.at.String() + " " + l.inode
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestOverlappingAddresses(t *testing.T) { // S10
	for _, c := range []struct {
		ours, theirs string
		want         bool
	}{
		{":8080", "127.0.0.1:8080", true}, {":8080", "[::]:8080", true}, {":8080", "[::]:8081", false},
		{"127.0.0.1:8080", "0.0.0.0:8080", true}, {"127.0.0.1:8080", "127.0.0.1:8080", true}, {"127.0.0.1:8080", "192.0.2.1:8080", false},
		{"localhost:8080", "127.0.0.1:8080", true}, {"localhost:8080", "192.0.2.1:8080", false}, {":8000-8100", "[::]:8080", true}, {":0", "[::]:8080", false},
	} {
		ours, err := caddy.ParseNetworkAddress(c.ours)
		if err != nil {
			t.Fatal(err)
		}
		if got := overlap(ours, netip.MustParseAddrPort(c.theirs)); got != c.want {
			t.Errorf("%s and %s: %v", c.ours, c.theirs, got)
		}
	}
}
