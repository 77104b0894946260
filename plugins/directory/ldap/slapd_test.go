package ldap

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	_ "github.com/caddyserver/caddy/v2/modules/caddytls" // its trust pools
	"github.com/go-ldap/ldap/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/directory/directorytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	suffix   = "dc=example,dc=com"
	people   = "ou=people," + suffix
	reader   = "cn=reader," + suffix
	root     = "cn=root," + suffix
	rootPass = "root-secret"
)

// server is a slapd of the test's own.
type server struct {
	dir         string
	plain, ldap string // addresses with scheme: in the clear, and encrypted
	ca          string // path of the certificate
	process     *exec.Cmd
	log         bytes.Buffer
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// newServer starts a slapd (Debian's package of that name) with an account that may
// search and nobody else.
func newServer(t testing.TB) *server {
	t.Helper()
	s := &server{dir: t.TempDir(), plain: "ldap://" + freeAddress(t), ldap: "ldaps://" + freeAddress(t)}
	s.ca = filepath.Join(s.dir, "cert.pem")
	s.certificate(t)
	if err := os.Mkdir(filepath.Join(s.dir, "db"), 0o700); err != nil {
		t.Fatal(err)
	}
	conf := fmt.Sprintf(`include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
pidfile %[1]s/pid
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload ppolicy
TLSCertificateFile %[1]s/cert.pem
TLSCertificateKeyFile %[1]s/key.pem
database config
rootpw %[4]s
database mdb
suffix %[2]q
rootdn %[3]q
rootpw %[4]s
directory %[1]s/db
dbnosync
maxsize 16777216
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact=%[5]q read by * none
`, s.dir, suffix, root, rootPass, reader)
	if err := os.WriteFile(filepath.Join(s.dir, "slapd.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	t.Cleanup(func() { s.stop(t) })
	top := ldap.NewAddRequest(suffix, nil)
	top.Attribute("objectClass", []string{"dcObject", "organization"})
	top.Attribute("o", []string{"Example"})
	top.Attribute("dc", []string{"example"})
	account := ldap.NewAddRequest(reader, nil)
	account.Attribute("objectClass", []string{"organizationalRole", "simpleSecurityObject"})
	account.Attribute("userPassword", []string{hashed("reader-secret")})
	unit := ldap.NewAddRequest(people, nil)
	unit.Attribute("objectClass", []string{"organizationalUnit"})
	s.edit(t, func(c *ldap.Conn) error {
		for _, r := range []*ldap.AddRequest{top, account, unit} {
			if err := c.Add(r); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

func (s *server) start(t testing.TB) {
	t.Helper()
	s.process = exec.Command("slapd", "-d", "0", "-h", s.plain+" "+s.ldap, "-f", filepath.Join(s.dir, "slapd.conf"))
	s.process.Path = "/usr/sbin/slapd" // Debian keeps it out of a user's PATH
	s.process.Stderr = &s.log
	if err := s.process.Start(); err != nil {
		t.Fatalf("these tests need slapd: %v", err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", s.plain[len("ldap://"):])
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("slapd does not listen: %v\n%s", err, s.log.String())
		}
	}
}

func (s *server) stop(t testing.TB) {
	t.Helper()
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
	s.process = nil
}

func (s *server) certificate(t testing.TB) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// edit works on the entries as the owner of everything.
func (s *server) edit(t testing.TB, change func(*ldap.Conn) error) {
	t.Helper()
	c, err := ldap.DialURL(s.plain)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.Bind(root, rootPass); err != nil {
		t.Fatal(err)
	}
	if err := change(c); err != nil {
		t.Fatal(err)
	}
}

// hashed is {SSHA}, the oldest of the forms in use.
func hashed(password string) string {
	sum := sha1.Sum([]byte(password + "salt"))
	return "{SSHA}" + base64.StdEncoding.EncodeToString(append(sum[:], "salt"...))
}

func entryOf(u directorytest.Seed) *ldap.AddRequest {
	r := ldap.NewAddRequest("employeeNumber="+u.ID+","+people, nil)
	r.Attribute("objectClass", []string{"inetOrgPerson"})
	r.Attribute("uid", []string{u.Username})
	r.Attribute("sn", []string{"x"})
	name := u.Name
	if name == "" {
		name = "-" // cn is required; the suite knows who has none
	}
	r.Attribute("cn", []string{name})
	for attribute, value := range map[string]string{
		"displayName": u.Name, "givenName": u.Nickname, "labeledURI": u.Picture, "mail": u.Email, "telephoneNumber": u.Phone,
	} {
		if value != "" {
			r.Attribute(attribute, []string{value})
		}
	}
	if d, ok := u.Claims["department"].(string); ok {
		r.Attribute("departmentNumber", []string{d})
	}
	if u.Locked {
		r.Attribute("employeeType", []string{"TRUE"})
	}
	r.Attribute("userPassword", []string{hashed(u.Password)})
	return r
}

// fill makes these users the only ones.
func (s *server) fill(t testing.TB, users ...directorytest.Seed) {
	t.Helper()
	s.edit(t, func(c *ldap.Conn) error {
		found, err := c.Search(&ldap.SearchRequest{BaseDN: people, Scope: ldap.ScopeSingleLevel, Filter: "(objectClass=*)", Attributes: []string{"1.1"}})
		if err != nil {
			return err
		}
		for _, e := range found.Entries {
			if err := c.Del(ldap.NewDelRequest(e.DN, nil)); err != nil {
				return err
			}
		}
		for _, u := range users {
			if err := c.Add(entryOf(u)); err != nil {
				return err
			}
		}
		return nil
	})
}

// source is the configuration for the entries of a test.
func (s *server) source(t testing.TB) *Source {
	t.Helper()
	t.Setenv("LDAP_PASSWORD", "reader-secret")
	return &Source{
		URL: s.plain, BindDN: reader, BindPassword: "{env.LDAP_PASSWORD}", Base: people, ID: "employeeNumber", Locked: "employeeType",
		Attributes: map[string]string{
			"name": "displayName", "nickname": "givenName", "picture": "labeledURI", "phone": "telephoneNumber",
		},
		Claims: map[string]string{"department": "departmentNumber"},
	}
}

func opened(t testing.TB, src *Source) *dir {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	if err := src.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	d := openDirectory(src.settings, time.Now, zap.NewNop())
	t.Cleanup(func() { _ = d.Close() })
	return d
}
