package gateway

import (
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const threeFailures = `
dn: cn=policy,dc=example,dc=com
objectClass: device
objectClass: pwdPolicy
pwdAttribute: userPassword
pwdLockout: TRUE
pwdMaxFailure: 3
pwdLockoutDuration: 900
`

// startLDAPSite starts a site whose users are these entries of a slapd, in the configuration that the documentation recommends.
func startLDAPSite(t *testing.T, entries string) *harness.Gateway {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &slapd{dir: t.TempDir(), address: l.Addr().String()}
	_ = l.Close()
	t.Cleanup(server.stop)
	server.start(t, entries)
	t.Setenv("TEST_LDAP_PASSWORD", "reader-secret")
	g, _ := startSite(t, withUsers(`users ldap ldap://$LDAP {
			bind_dn cn=reader,dc=example,dc=com
			bind_password {env.TEST_LDAP_PASSWORD}
			base ou=people,dc=example,dc=com
			locked pwdAccountLockedTime
		}`), "$LDAP", server.address)
	return g
}

// ldapSignIn tells the status of a sign-in.
func ldapSignIn(t *testing.T, g *harness.Gateway, pass string) int {
	t.Helper()
	b := harness.NewBrowser(t, g.ID)
	return b.Submit(b.Get(authorizeURL(g, "web")), url.Values{"username": {username}, "password": {pass}}).Status
}

func TestWrongPasswordsThatLockAnLDAPUserEndNoGrants(t *testing.T) {
	g := startLDAPSite(t, alicesEntry+threeFailures)
	_, refresh := tokens(t, g, web)
	for range 3 {
		if status := ldapSignIn(t, g, "wrong"); status != http.StatusUnauthorized {
			t.Fatalf("a wrong password: %d", status)
		}
	}
	if status := ldapSignIn(t, g, password); status != http.StatusUnauthorized {
		t.Errorf("the right password while the server locks the user: %d", status)
	}
	if p := g.Token(t, web, refreshWith(refresh)); p.Status != http.StatusOK {
		t.Errorf("refresh: %d %s", p.Status, p.Body)
	}
}

func TestLDAPUserWhoMustChangeThePasswordIsRefused(t *testing.T) {
	g := startLDAPSite(t, alicesEntry+"pwdReset: TRUE\n"+`
dn: cn=policy,dc=example,dc=com
objectClass: device
objectClass: pwdPolicy
pwdAttribute: userPassword
pwdMustChange: TRUE
`)
	if status := ldapSignIn(t, g, password); status != http.StatusUnauthorized {
		t.Errorf("a sign-in with the initial password: %d", status)
	}
}
