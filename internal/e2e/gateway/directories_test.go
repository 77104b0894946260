package gateway

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// withUsers is the site with another user directory.
func withUsers(block string) string {
	return strings.Replace(site, "users file $DIR/users.json", block, 1)
}

// useDirectory walks through what a directory is asked for: alice signs in, calls the
// API and refreshes; then she is taken away, and at last the directory itself.
func useDirectory(t *testing.T, g *harness.Gateway, up *harness.Upstream, subject string, remove, away func()) {
	t.Helper()
	b := harness.NewBrowser(t, g.ID)
	if p := b.Submit(b.Get(authorizeURL(g, "web")), url.Values{"username": {username}, "password": {"wrong"}}); p.Status != http.StatusUnauthorized {
		t.Fatalf("a wrong password: %d %s", p.Status, p.Body)
	}
	access, refresh := tokens(t, g, web)
	if p := g.Call(t, http.MethodGet, "/read/1", access); p.Status != http.StatusOK {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	if hits := up.Hits(); len(hits) != 1 || hits[0].Header.Get("X-Auth-Subject") != subject {
		t.Errorf("the upstream saw %v", hits)
	}
	p := g.Token(t, web, refreshWith(refresh))
	if p.Status != http.StatusOK {
		t.Fatalf("refresh: %d %s", p.Status, p.Body)
	}
	_, refresh = wantTokens(t, p)
	_, other := tokens(t, g, web)
	remove()
	if p := g.Token(t, web, refreshWith(refresh)); p.Status != http.StatusBadRequest || p.JSON(t)["error"] != "invalid_grant" {
		t.Errorf("refresh of a user who is gone: %d %s", p.Status, p.Body)
	}
	away()
	p = g.Token(t, web, refreshWith(other))
	if p.Status != http.StatusServiceUnavailable || p.Header.Get("Retry-After") == "" {
		t.Errorf("refresh without the directory: %d %s", p.Status, p.Body)
	}
	b = harness.NewBrowser(t, g.ID)
	if p := b.Submit(b.Get(authorizeURL(g, "web")), url.Values{"username": {username}, "password": {password}}); p.Status != http.StatusServiceUnavailable {
		t.Errorf("sign-in without the directory: %d %s", p.Status, p.Body)
	}
}

func TestUsersBehindALoginEndpointSignIn(t *testing.T) {
	var gone atomic.Bool
	legacy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/login" && r.PostFormValue("username") == username && r.PostFormValue("password") == password && !gone.Load(),
			r.URL.Path == "/users/7" && !gone.Load():
			_ = json.NewEncoder(w).Encode(map[string]any{"user": map[string]any{"id": 7, "name": "Alice"}})
		case r.URL.Path == "/login":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer legacy.Close()
	g, up := startSite(t, withUsers(`users http $LEGACY/login {
			lookup $LEGACY/users/{id}
			fields {
				id /user/id
				name /user/name
			}
		}`), "$LEGACY", legacy.URL)
	useDirectory(t, g, up, "7", func() { gone.Store(true) }, legacy.Close)
}

// N17: names are looked up for requests to the API, and a directory that hangs does not hold
// those up: nothing is decided by a name.
func TestHangingDirectoryDelaysNoAPIRequests(t *testing.T) {
	var hangs atomic.Bool
	legacy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Load() {
			<-r.Context().Done()
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"id": 7, "name": "Alice"})
	}))
	defer legacy.Close()
	text := withUsers(`users http $LEGACY/login {
			lookup $LEGACY/users/{id}
			fields {
				id /id
				name /name
			}
			timeout 30s
		}`)
	g, up := startSite(t, strings.Replace(text, "reverse_proxy $UPSTREAM", "reverse_proxy $UPSTREAM {\n\t\theader_up X-Name {http.auth.user.name}\n\t}", 1), "$LEGACY", legacy.URL)
	access, _ := tokens(t, g, web)
	names := func() (all []string) {
		t.Helper()
		if p := g.Call(t, http.MethodGet, "/read/1", access); p.Status != http.StatusOK {
			t.Fatalf("N17 %d %s", p.Status, p.Body)
		}
		for _, hit := range up.Hits() {
			all = append(all, hit.Header.Get("X-Name"))
		}
		return all
	}
	if all := names(); !slices.Equal(all, []string{"Alice"}) {
		t.Fatalf("N17 %q", all)
	}
	hangs.Store(true)
	begun := time.Now()
	for range 10 {
		if all := names(); !slices.Equal(all, []string{""}) {
			t.Errorf("N17 while the directory hangs: %q", all)
		}
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("N17 ten requests took %v", took)
	}
	hangs.Store(false)
	for end := time.Now().Add(time.Minute); !slices.Equal(names(), []string{"Alice"}); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("N17 the name does not come back")
		}
	}
}

func TestLDAPUsersSignIn(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &slapd{dir: t.TempDir(), address: l.Addr().String()}
	_ = l.Close()
	t.Cleanup(server.stop)
	server.start(t, alicesEntry)
	t.Setenv("TEST_LDAP_PASSWORD", "reader-secret")
	g, up := startSite(t, withUsers(`users ldap ldap://$LDAP {
			bind_dn cn=reader,dc=example,dc=com
			bind_password {env.TEST_LDAP_PASSWORD}
			base ou=people,dc=example,dc=com
			id employeeNumber
			attributes {
				name displayName
			}
		}`), "$LDAP", server.address)
	// She goes while the server is restarted, so the gateway's connections are dead then.
	remove := func() { server.stop(); server.start(t, "") }
	useDirectory(t, g, up, "e-7", remove, server.stop)
}

const slapdConf = `include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
pidfile $DIR/pid
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload ppolicy
database mdb
suffix "dc=example,dc=com"
rootdn "cn=root,dc=example,dc=com"
directory $DIR/db
maxsize 16777216
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="cn=reader,dc=example,dc=com" read by * none
overlay ppolicy
ppolicy_default "cn=policy,dc=example,dc=com"
`

const noEntries = `dn: dc=example,dc=com
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: cn=reader,dc=example,dc=com
objectClass: organizationalRole
objectClass: simpleSecurityObject
userPassword: reader-secret

dn: ou=people,dc=example,dc=com
objectClass: organizationalUnit
`

const alicesEntry = `
dn: uid=alice,ou=people,dc=example,dc=com
objectClass: inetOrgPerson
sn: Example
cn: Alice Example
displayName: Alice
employeeNumber: e-7
userPassword: ` + password + "\n"

// slapd is an LDAP server of the test's own.
type slapd struct {
	dir, address string
	process      *exec.Cmd
}

// start makes a database of some accounts and these entries, and serves it.
func (s *slapd) start(t *testing.T, entries string) {
	t.Helper()
	conf, ldif, db := filepath.Join(s.dir, "slapd.conf"), filepath.Join(s.dir, "users.ldif"), filepath.Join(s.dir, "db")
	for name, text := range map[string]string{conf: strings.ReplaceAll(slapdConf, "$DIR", s.dir), ldif: noEntries + entries} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.RemoveAll(db), os.Mkdir(db, 0o700)); err != nil {
		t.Fatal(err)
	}
	// Debian keeps both programs out of a user's PATH.
	if out, err := exec.Command("/usr/sbin/slapadd", "-q", "-f", conf, "-l", ldif).CombinedOutput(); err != nil {
		t.Fatalf("this test needs slapd: %v: %s", err, out)
	}
	s.process = exec.Command("/usr/sbin/slapd", "-d", "0", "-h", "ldap://"+s.address, "-f", conf)
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", s.address)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("slapd does not listen: %v", err)
		}
	}
}

func (s *slapd) stop() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}
