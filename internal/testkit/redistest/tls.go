//go:build unix

package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Certificates are files (PEM): an authority, and what it signed.
type Certificates struct {
	// CA is whom to trust. The server's certificate is for 127.0.0.1 and localhost.
	CA string
	// Cert and Key are what a client can show.
	Cert, Key string
}

// StartTLS is Start for a server that speaks nothing but TLS. It takes clients without a
// certificate too, unless args say "--tls-auth-clients", "yes".
func StartTLS(t testing.TB, args ...string) (*Server, Certificates) {
	t.Helper()
	l := newLauncher(t)
	certs := issueCertificates(t, l.dir)
	return l.startServer(&certs, args...), certs
}

// serverOptions are those of a server.
func (c Certificates) serverOptions() []string {
	return []string{
		"--tls-ca-cert-file", c.CA, "--tls-cert-file", filepath.Join(filepath.Dir(c.CA), "server.crt"),
		"--tls-key-file", filepath.Join(filepath.Dir(c.CA), "server.key"), "--tls-auth-clients", "optional",
	}
}

// clientConfig is how one dials a server.
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

// issueCertificates makes an authority, a certificate of the server and one of a client.
func issueCertificates(t testing.TB, dir string) Certificates {
	t.Helper()
	file := func(name string) string { return filepath.Join(dir, name) }
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caKey := signCertificate(t, ca, ca, nil, file("ca"))
	for serial, name := range map[int64]string{2: "server", 3: "client"} {
		leaf := &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		}
		signCertificate(t, leaf, ca, caKey, file(name))
	}
	return Certificates{CA: file("ca.crt"), Cert: file("client.crt"), Key: file("client.key")}
}

// signCertificate makes a key and writes it and its certificate to files. Without a key of the
// parent it signs itself.
func signCertificate(t testing.TB, what, parent *x509.Certificate, by *ecdsa.PrivateKey, file string) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	failOn(t, err)
	if by == nil {
		by = key
	}
	cert, err := x509.CreateCertificate(rand.Reader, what, parent, key.Public(), by)
	failOn(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	failOn(t, err)
	failOn(t, os.WriteFile(file+".crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600))
	failOn(t, os.WriteFile(file+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return key
}
