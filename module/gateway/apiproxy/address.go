package apiproxy

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddytls"
)

// address is where a server listens.
type address struct {
	network, dial string
	host          string // without the port; empty for a unix socket
	secure        bool
}

// parseAddress reads `host`, `host:port`, `http://host`, `https://host:port` or `unix//path`.
func parseAddress(text string) (address, error) {
	const expected = "expected an address such as 10.0.1.20:8080, https://api.internal or unix//run/api.sock; use reverse_proxy for anything else"
	if strings.Contains(text, "{") {
		return address{}, fmt.Errorf("a placeholder in '%s', %s", text, expected)
	}
	if scheme, _, found := strings.Cut(text, "://"); found {
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil,
			scheme != "http" && scheme != "https":
			return address{}, fmt.Errorf("'%s', %s", text, expected)
		}
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[scheme]
		}
		if !isPort(port) {
			return address{}, fmt.Errorf("'%s', %s", text, expected)
		}
		return address{"tcp", net.JoinHostPort(u.Hostname(), port), u.Hostname(), scheme == "https"}, nil
	}
	network, host, port, err := caddy.SplitNetworkAddress(text)
	switch {
	case err == nil && network == "unix":
		return address{network: network, dial: host}, nil
	case err != nil || network != "" && network != "tcp" || host == "" && port == "" || port != "" && !isPort(port):
		return address{}, fmt.Errorf("'%s', %s", text, expected)
	}
	return address{"tcp", net.JoinHostPort(host, cmp.Or(port, "80")), host, false}, nil
}

// isPort reports whether s is the number of a port. Ranges are not.
func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// caddyAddress is the address as reverse_proxy takes it.
func (a address) caddyAddress() string {
	if a.network == "unix" {
		return "unix/" + a.dial
	}
	return a.dial
}

// hasForwardProxy reports whether the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY) says that the
// server is reached through another proxy.
func (a address) hasForwardProxy() bool {
	if a.network != "tcp" {
		return false
	}
	u := &url.URL{Scheme: "http", Host: a.dial}
	if a.secure {
		u.Scheme = "https"
	}
	through, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	return through != nil || err != nil
}

// loadRoots returns the certificates of authorities; nil means those of the system.
func (p *Proxy) loadRoots(ctx caddy.Context) (*x509.CertPool, error) {
	switch {
	case p.TrustPool != nil && len(p.TrustFiles) > 0:
		return nil, errors.New("expected either tls_trust or tls_trust_pool, which both say whom to trust")
	case p.TrustPool == nil:
		return readRoots(p.TrustFiles)
	}
	p.trustPool = p.TrustPool
	module, err := ctx.LoadModule(p, "TrustPool")
	if err != nil {
		return nil, fmt.Errorf("tls_trust_pool: %w", err)
	}
	pool, ok := module.(caddytls.CA)
	if !ok {
		return nil, fmt.Errorf("tls_trust_pool: %T has no certificates", module)
	}
	return pool.CertPool(), nil
}

// readRoots reads certificates of authorities; nil means those of the system.
func readRoots(files []string) (*x509.CertPool, error) {
	if len(files) == 0 {
		return nil, nil
	}
	roots := x509.NewCertPool()
	for _, file := range files {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("tls_trust: %w", err)
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls_trust: there is no certificate in %s", file)
		}
	}
	return roots, nil
}
