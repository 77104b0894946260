//go:build unix

package redistest

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/certificates"
)

// Certificates are PEM files of a CA and what it has signed.
type Certificates struct {
	// CA is the certificate to trust. The server's is for 127.0.0.1 and localhost.
	CA string
	// Cert and Key are for a client.
	Cert, Key string
}

// StartTLS is Start for a server that accepts only TLS. It accepts clients without a certificate too, unless args
// contain "--tls-auth-clients", "yes".
func StartTLS(t testing.TB, args ...string) (*Server, Certificates) {
	t.Helper()
	l := newLauncher(t)
	failOn(t, certificates.Issue(l.dir, "server", "client"))
	file := func(name string) string { return filepath.Join(l.dir, name) }
	certs := Certificates{CA: file("ca.crt"), Cert: file("client.crt"), Key: file("client.key")}
	return l.startServer(&certs, args...), certs
}

// serverOptions returns the TLS options of a server.
func (c Certificates) serverOptions() []string {
	return []string{
		"--tls-ca-cert-file", c.CA, "--tls-cert-file", filepath.Join(filepath.Dir(c.CA), "server.crt"),
		"--tls-key-file", filepath.Join(filepath.Dir(c.CA), "server.key"), "--tls-auth-clients", "optional",
	}
}

// clientConfig returns the TLS configuration of a client.
func (c Certificates) clientConfig(t testing.TB) *tls.Config {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	failOn(t, err)
	ca, err := os.ReadFile(c.CA)
	failOn(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	return &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}
}
