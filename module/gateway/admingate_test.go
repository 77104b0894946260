package gateway

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// H09: what Caddy listens on and where the connection came in must both be local.
func TestOnlyLocalListenersAreTrusted(t *testing.T) {
	loopback, network := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2019}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 2019}
	six := &net.TCPAddr{IP: net.IPv6loopback, Port: 2019}
	for name, c := range map[string]struct {
		local  net.Addr
		listen string
		want   bool
	}{
		"localhost":                        {loopback, "localhost:2019", true},
		"another name of loopback":         {loopback, "ip6-localhost:2019", true},
		"127.0.0.1":                        {loopback, "127.0.0.1:2019", true},
		"127.0.0.2":                        {loopback, "127.0.0.2:2019", true},
		"::1":                              {six, "[::1]:2019", true},
		"tcp4":                             {loopback, "tcp4/127.0.0.1:2019", true},
		"a socket":                         {&net.UnixAddr{Name: "/run/a", Net: "unix"}, "unix//run/a|0220", true},
		"an inherited socket":              {&net.UnixAddr{Name: "/run/a", Net: "unix"}, "fd/3", true},
		"an inherited TCP socket":          {loopback, "fd/3", false},
		"every interface":                  {loopback, "0.0.0.0:2019", false},
		"every interface, six":             {six, "[::]:2019", false},
		"every interface, mapped":          {loopback, "[::ffff:0.0.0.0]:2019", false},
		"no host":                          {loopback, ":2019", false},
		"an address of the network":        {network, "192.0.2.1:2019", false},
		"a name that leads to the network": {network, "admin.example:2019", false},
		"a listener that is not known":     {loopback, "", false},
		"a connection that is not known":   {nil, "localhost:2019", false},
		"another kind of connection":       {&net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, "localhost:2019", false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.WithValue(t.Context(), http.ServerContextKey, &http.Server{Addr: c.listen})
			if c.local != nil {
				ctx = context.WithValue(ctx, http.LocalAddrContextKey, c.local)
			}
			if got := distrusted(httptest.NewRequestWithContext(ctx, "GET", "/gatehouse/users", nil)) == ""; got != c.want {
				t.Errorf("trusted: %v", got)
			}
		})
	}
	if distrusted(httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, loopback), "GET", "/", nil)) == "" {
		t.Error("without a server nothing is known about the listener")
	}
	tls := httptest.NewRequestWithContext(context.WithValue(context.WithValue(t.Context(), http.LocalAddrContextKey, loopback),
		http.ServerContextKey, &http.Server{Addr: "localhost:2021"}), "GET", "https://localhost/", nil)
	if distrusted(tls) == "" {
		t.Error("the remote admin endpoint is not the local one")
	}
}
