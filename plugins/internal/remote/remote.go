package remote

import (
	"crypto/x509"
	"fmt"
	"net/netip"
	"os"
)

// Loopback reports whether a host name (without port) can only be this machine.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Roots reads a file of certificates in PEM form. It returns the text too, which decides
// whether two configurations mean the same.
func Roots(file string) (*x509.CertPool, string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, "", fmt.Errorf("%s holds no certificate in PEM form", file)
	}
	return roots, string(text), nil
}
