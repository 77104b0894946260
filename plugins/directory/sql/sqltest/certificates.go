//go:build unix

package sqltest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// CA is the file with the certificate of the authority that has certified the server, for localhost and 127.0.0.1.
func (s *Server) CA() string { return s.path("ca.crt") }

func (s *Server) path(name string) string { return filepath.Join(s.dir, name) }

// issueCertificates makes an authority of the server's own, and certifies the server.
func (s *Server) issueCertificates() error {
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caKey, err := s.signCertificate(ca, ca, nil, "ca")
	if err != nil {
		return err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "server"}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	_, err = s.signCertificate(leaf, ca, caKey, "server")
	return err
}

// signCertificate makes a key and writes it and its certificate to files that the server may read. Without a key of
// the parent it signs itself.
func (s *Server) signCertificate(what, parent *x509.Certificate, by *ecdsa.PrivateKey, name string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if by == nil {
		by = key
	}
	cert, err := x509.CreateCertificate(rand.Reader, what, parent, key.Public(), by)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	for file, block := range map[string]*pem.Block{name + ".crt": {Type: "CERTIFICATE", Bytes: cert}, name + ".key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(s.path(file), pem.EncodeToMemory(block), 0o600); err != nil {
			return nil, err
		}
		if who := s.credential(); who != nil {
			if err := os.Chown(s.path(file), int(who.Uid), int(who.Gid)); err != nil {
				return nil, err
			}
		}
	}
	return key, nil
}
