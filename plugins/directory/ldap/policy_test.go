package ldap

import (
	"testing"
	"time"

	"github.com/go-ldap/ldap/v3"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// setPolicy makes this the password policy of all users.
func (s *server) setPolicy(t testing.TB, attributes map[string]string) {
	t.Helper()
	policy := ldap.NewAddRequest("cn=policy,"+suffix, nil)
	policy.Attribute("objectClass", []string{"device", "pwdPolicy"})
	policy.Attribute("pwdAttribute", []string{"userPassword"})
	for name, value := range attributes {
		policy.Attribute(name, []string{value})
	}
	s.edit(t, func(c *ldap.Conn) error { return c.Add(policy) })
	overlay := ldap.NewAddRequest("olcOverlay=ppolicy,olcDatabase={1}mdb,cn=config", nil)
	overlay.Attribute("objectClass", []string{"olcOverlayConfig", "olcPPolicyConfig"})
	overlay.Attribute("olcPPolicyDefault", []string{policy.DN})
	if err := s.config(t).Add(overlay); err != nil {
		t.Fatal(err)
	}
}

// set replaces an attribute of a user's entry; no value removes it.
func (s *server) set(t testing.TB, id, attribute string, values ...string) {
	t.Helper()
	r := ldap.NewModifyRequest("employeeNumber="+id+","+people, nil)
	r.Replace(attribute, values)
	s.edit(t, func(c *ldap.Conn) error { return c.Modify(r) })
}

func isLockedOut(t *testing.T, d *dir, id string) bool {
	t.Helper()
	u, ok, err := d.Lookup(t.Context(), id)
	if !ok || err != nil {
		t.Fatalf("Lookup(%q) = %t, %v", id, ok, err)
	}
	return u.Locked
}

// A stranger can have a server lock a user for some time, and slapd keeps the time of the lock until the next successful bind.
func TestWrongPasswordsEndNoGrants(t *testing.T) {
	for name, duration := range map[string]string{"for a second": "1", "until an administrator unlocks": "0"} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.setPolicy(t, map[string]string{"pwdLockout": "TRUE", "pwdMaxFailure": "3", "pwdLockoutDuration": duration})
			s.fill(t, seed("1", "ann", "secret"))
			src := s.source(t)
			src.Locked = "pwdAccountLockedTime"
			d := opened(t, src)
			for range 3 {
				isRefused(t, d, "ann", "wrong")
			}
			isRefused(t, d, "ann", "secret")
			if isLockedOut(t, d, "1") {
				t.Error("wrong passwords end grants")
			}
			src.Locked = "(pwdAccountLockedTime=*)"
			if strict := opened(t, src); !isLockedOut(t, strict, "1") {
				t.Error("a filter that asks for any lock does not find this one")
			}
			if duration == "0" {
				return
			}
			for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
				if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok && err == nil {
					return
				} else if err != nil || time.Now().After(end) {
					t.Fatalf("after the lock: %t, %v", ok, err)
				}
			}
		})
	}
}

func TestUserWhomAnAdministratorLockedIsLocked(t *testing.T) {
	s := newServer(t)
	s.setPolicy(t, map[string]string{"pwdLockout": "TRUE"})
	s.fill(t, seed("1", "ann", "secret"))
	src := s.source(t)
	src.Locked = "pwdaccountlockedtime"
	d := opened(t, src)
	signsIn(t, d, "ann", "secret")
	s.set(t, "1", "pwdAccountLockedTime", "000001010000Z")
	isRefused(t, d, "ann", "secret")
	if !isLockedOut(t, d, "1") {
		t.Error("a locked user is not locked")
	}
	s.set(t, "1", "pwdAccountLockedTime")
	signsIn(t, d, "ann", "secret")
}

func TestUserWhoMustChangeThePasswordIsRefused(t *testing.T) {
	s := newServer(t)
	s.setPolicy(t, map[string]string{"pwdMustChange": "TRUE"})
	s.fill(t, seed("1", "ann", "initial secret"), seed("2", "bob", "secret"))
	d := opened(t, s.source(t))
	core, logs := observer.New(zap.WarnLevel)
	d.log = zap.New(core)
	s.set(t, "1", "pwdReset", "TRUE")
	isRefused(t, d, "ann", "initial secret")
	if l := logs.All(); len(l) != 1 || len(l[0].Context) != 1 || l[0].ContextMap()["subject"] != "1" {
		t.Errorf("the log says %+v", l)
	}
	if isLockedOut(t, d, "1") {
		t.Error("a password that an administrator set ends grants")
	}
	signsIn(t, d, "bob", "secret")
	s.set(t, "1", "pwdReset")
	signsIn(t, d, "ann", "initial secret")
}

func TestMustChangeIsWhatTheServerSaysOfThePassword(t *testing.T) {
	old := &ldap.ControlVChuPasswordMustChange{MustChange: true}
	policy := func(change func(*ldap.ControlBeheraPasswordPolicy)) ldap.Control {
		c := ldap.NewControlBeheraPasswordPolicy()
		change(c)
		return c
	}
	reset := policy(func(c *ldap.ControlBeheraPasswordPolicy) { c.Error = 2 })
	grace := policy(func(c *ldap.ControlBeheraPasswordPolicy) { c.Grace = 3 })
	for name, c := range map[string]struct {
		controls []ldap.Control
		want     bool
	}{
		"no policy":                        {nil, false},
		"nothing to say":                   {[]ldap.Control{policy(func(*ldap.ControlBeheraPasswordPolicy) {})}, false},
		"reset":                            {[]ldap.Control{reset}, true},
		"reset, in both ways":              {[]ldap.Control{old, reset}, true},
		"reset, in the older way":          {[]ldap.Control{old}, true},
		"expired, and good for three more": {[]ldap.Control{old, grace}, false},
		"soon to expire":                   {[]ldap.Control{&ldap.ControlVChuPasswordWarning{Expire: 60}}, false},
	} {
		if got := mustChange(c.controls); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
