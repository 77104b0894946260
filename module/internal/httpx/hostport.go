package httpx

import (
	"net"
	"net/url"
	"strings"
)

// HasHostPort reports whether an address names a host and port. Scripts leave out the default port
// of the scheme.
func HasHostPort(to *url.URL, hostport string) bool {
	port := to.Port()
	if port == "" {
		port = map[string]string{"http": "80", "": "80", "https": "443"}[strings.ToLower(to.Scheme)]
	}
	return strings.EqualFold(net.JoinHostPort(to.Hostname(), port), hostport)
}
