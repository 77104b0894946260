package remote

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/caddyserver/caddy/v2"
)

const usualTimeout, maxTimeout = 3 * time.Second, time.Minute

// Timeout is how long one question may take: 3s when nothing is given, and never more
// than a minute, since a sign-in holds its turn for as long.
func Timeout(given caddy.Duration) (time.Duration, error) {
	switch t := time.Duration(given); {
	case t == 0:
		return usualTimeout, nil
	case t < 0 || t > maxTimeout:
		return 0, fmt.Errorf("timeout: expected at most %v", maxTimeout)
	default:
		return t, nil
	}
}

// Loopback reports whether a host name (without port) can only be this machine.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Identity is a digest of everything that shapes a directory, its secrets included.
type Identity [sha256.Size]byte

// NewIdentity digests values in their JSON form.
func NewIdentity(parts ...any) (Identity, error) {
	text, err := json.Marshal(parts)
	return sha256.Sum256(text), err
}

// Trust makes the certificates (PEM) in a file the only ones that c trusts; with "" those of the system stay. It
// returns the text of the file, which decides whether two configurations mean the same.
func Trust(c *tls.Config, file string) (text string, err error) {
	if file != "" {
		if c.RootCAs, text, err = Roots(file); err != nil {
			err = fmt.Errorf("ca: %w", err)
		}
	}
	return text, err
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
