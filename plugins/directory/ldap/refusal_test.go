package ldap

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/go-ldap/ldap/v3"
)

// A server that takes nobody's password, as when an operator switches simple binds off, answers what it answers
// for a user who is switched off.
func TestServerThatRefusesEveryBindIsAFault(t *testing.T) {
	s := newServer(t)
	s.fill(t, seed("u-1", "ann", "correct horse"))
	config := s.config(t)
	for name, src := range map[string]*Source{"bind_dn": s.source(t), "anonymous": s.anonymous(t, config)} {
		t.Run(name, func(t *testing.T) {
			d := opened(t, src)
			signsIn(t, d, "ann", "correct horse")
			off, on := ldap.NewModifyRequest("cn=config", nil), ldap.NewModifyRequest("cn=config", nil)
			off.Add("olcDisallows", []string{"bind_simple"})
			on.Delete("olcDisallows", []string{"bind_simple"})
			modify(t, config, off)
			for _, name := range []string{"ann", "nobody"} {
				if _, ok, err := d.Authenticate(t.Context(), name, "correct horse"); ok || err == nil {
					t.Errorf("%s: %t, %v", name, ok, err)
				}
			}
			modify(t, config, on)
			signsIn(t, d, "ann", "correct horse")
			isRefused(t, d, "ann", "wrong")
			isRefused(t, d, "nobody", "correct horse")
		})
	}
}

// A user whom the server alone is unwilling to bind is refused like anybody with a wrong password, also by a server that
// has another answer than slapd for a name that it does not have.
func TestServerThatRefusesOneUserIsNoFault(t *testing.T) {
	s := newServer(t)
	s.fill(t, seed("u-1", "ann", "correct horse"), seed("u-2", "bob", "battery staple"))
	for name, src := range map[string]*Source{"bind_dn": s.source(t), "anonymous": s.anonymous(t, s.config(t))} {
		for _, nobody := range []byte{ldap.LDAPResultInvalidCredentials, ldap.LDAPResultNoSuchObject, ldap.LDAPResultInsufficientAccessRights} {
			t.Run(fmt.Sprint(name, nobody), func(t *testing.T) {
				src.URL = refuses(t, s.plain, map[string]byte{"employeeNumber=u-1,": ldap.LDAPResultUnwillingToPerform, "cn=nobody,": nobody})
				d := opened(t, src)
				isRefused(t, d, "ann", "correct horse")
				signsIn(t, d, "bob", "battery staple")
			})
		}
	}
}

// refuses is a way to a server on which binds with such names get these codes.
func refuses(t *testing.T, server string, codes map[string]byte) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go refuseBinds(from, server, codes)
		}
	}()
	return "ldap://" + l.Addr().String()
}

func refuseBinds(from net.Conn, server string, codes map[string]byte) {
	defer func() { _ = from.Close() }()
	to, err := net.Dial("tcp", server[len("ldap://"):])
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	go func() { _, _ = io.Copy(from, to) }()
	for message := make([]byte, 4096); ; {
		n, err := from.Read(message)
		if err != nil {
			return
		}
		answer := to
		said := message[:n]
		if code, ok := bindCode(said, codes); ok { // the same message, with a response
			answer, said = from, []byte{0x30, 12, 2, 1, said[4], 0x61, 7, 0x0a, 1, code, 4, 0, 4, 0}
		}
		if _, err := answer.Write(said); err != nil {
			return
		}
	}
}

// bindCode finds the code for a message if it is a short bind with such a name.
func bindCode(message []byte, codes map[string]byte) (code byte, ok bool) {
	if len(message) < 6 || message[5] != 0x60 {
		return 0, false
	}
	for name, code := range codes {
		if bytes.Contains(message, []byte(name)) {
			return code, true
		}
	}
	return 0, false
}

// anonymous is the configuration of who searches without a name, and lets everybody do that.
func (s *server) anonymous(t testing.TB, config *ldap.Conn) *Source {
	t.Helper()
	readable := ldap.NewModifyRequest("olcDatabase={1}mdb,cn=config", nil)
	readable.Replace("olcAccess", []string{"{0}to attrs=userPassword by anonymous auth by * none", "{1}to * by * read"})
	modify(t, config, readable)
	src := s.source(t)
	src.BindDN, src.BindPassword = "", ""
	return src
}

// config is a connection of who may change the server's configuration.
func (s *server) config(t testing.TB) *ldap.Conn {
	t.Helper()
	c, err := ldap.DialURL(s.plain)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Bind("cn=config", rootPass); err != nil {
		t.Fatal(err)
	}
	return c
}

func modify(t testing.TB, c *ldap.Conn, change *ldap.ModifyRequest) {
	t.Helper()
	if err := c.Modify(change); err != nil {
		t.Fatal(err)
	}
}
