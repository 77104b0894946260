package ldap

import (
	"testing"

	"github.com/go-ldap/ldap/v3"
)

// A server that takes nobody's password, as when an operator switches simple binds off, answers what it answers
// for a user who is switched off.
func TestServerThatRefusesEveryBindIsAFault(t *testing.T) {
	s := newServer(t)
	s.fill(t, seed("u-1", "ann", "correct horse"))
	d := opened(t, s.source(t))
	signsIn(t, d, "ann", "correct horse")
	c, err := ldap.DialURL(s.plain)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.Bind("cn=config", rootPass); err != nil {
		t.Fatal(err)
	}
	off, on := ldap.NewModifyRequest("cn=config", nil), ldap.NewModifyRequest("cn=config", nil)
	off.Add("olcDisallows", []string{"bind_simple"})
	on.Delete("olcDisallows", []string{"bind_simple"})
	if err := c.Modify(off); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ann", "nobody"} {
		if _, ok, err := d.Authenticate(t.Context(), name, "correct horse"); ok || err == nil {
			t.Errorf("%s: %t, %v", name, ok, err)
		}
	}
	if err := c.Modify(on); err != nil {
		t.Fatal(err)
	}
	signsIn(t, d, "ann", "correct horse")
	isRefused(t, d, "ann", "wrong")
}
