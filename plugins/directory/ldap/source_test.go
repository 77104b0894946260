package ldap

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/go-ldap/ldap/v3"

	"github.com/gatehouse/gatehouse/plugins/internal/words/wordstest"
)

const full = `ldap ldap://ldap.example.com {
	bind_dn cn=reader,dc=example,dc=com
	bind_password {env.LDAP_PASSWORD}
	base ou=people,dc=example,dc=com
	filter "(&(objectClass=person)(uid={username}))"
	id entryUUID
	attributes {
		name displayName
		email mail
		claim department departmentNumber
		claim groups memberOf
	}
	locked pwdAccountLockedTime
	start_tls
	timeout 2s
	pool 4
}`

func TestCaddyfileSetsEveryField(t *testing.T) {
	t.Setenv("LDAP_PASSWORD", wordstest.Secret)
	s, err := wordstest.Loaded[Source](t, full, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := s.settings
	if got.host != "ldap.example.com:389" || got.tls == nil || got.ldaps || got.timeout != 2*time.Second || got.pool != 4 ||
		got.password != wordstest.Secret || got.claims["groups"] != "memberOf" || got.fields["name"] != "displayName" || got.fields["username"] != "uid" {
		t.Errorf("%+v", got)
	}
	raw, err := json.Marshal(s)
	if err != nil || strings.Contains(string(raw), wordstest.Secret) {
		t.Errorf("the configuration holds the password: %s, %v", raw, err)
	}
}

func TestCaddyfileErrorsAreExplained(t *testing.T) {
	wordstest.Mistakes[Source](t, map[string]string{
		`ldap`:                                            "expected `ldap <url>`",
		`ldap a b`:                                        "expected `ldap <url>`",
		"ldap a {\n color red\n}":                         "unrecognized word 'color'",
		"ldap a {\n base\n}":                              "base: expected one value",
		"ldap a {\n base a b\n}":                          "base: expected one value",
		"ldap a {\n base a\n base b\n}":                   "base is given twice",
		"ldap a {\n timeout soon\n}":                      "timeout: invalid duration 'soon'",
		"ldap a {\n tls on\n}":                            "wrong argument count",
		"ldap a {\n tls {\n ca x\n}\n}":                   "tls: unrecognized word 'ca', expected one of: trust_pool",
		"ldap a {\n tls {\n trust_pool here\n}\n}":        "no module tls.ca_pool.source.here",
		"ldap a {\n pool many\n}":                         "whole number from 1",
		"ldap a {\n pool 0\n}":                            "whole number from 1",
		"ldap a {\n start_tls yes\n}":                     "wrong argument count",
		"ldap a {\n bind_password literal\n}":             "expected a placeholder",
		"ldap a {\n attributes {\n color x\n}\n}":         "unknown field 'color'",
		"ldap a {\n attributes {\n name\n}\n}":            "name: expected one attribute",
		"ldap a {\n attributes {\n claim\n}\n}":           "expected `claim <name> <attribute>`",
		"ldap a {\n attributes {\n name a\n name b\n}\n}": "name is given twice",
	})
}

func TestInvalidConfigIsRefused(t *testing.T) {
	t.Setenv("LDAP_PASSWORD", wordstest.Secret)
	t.Setenv("LDAP_EMPTY", "")
	noCert := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(noCert, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	wordstest.Refuses(t, full, map[string]struct {
		Change func(*Source)
		Want   string
	}{
		"no url":              {func(s *Source) { s.URL = "" }, "url"},
		"in the clear":        {func(s *Source) { s.StartTLS = false }, "in the clear"},
		"another scheme":      {func(s *Source) { s.URL = "https://a" }, "ldaps"},
		"a path":              {func(s *Source) { s.URL = "ldaps://a/dc=x" }, "nothing after it"},
		"a password in it":    {func(s *Source) { s.URL = "ldaps://u:p@a" }, "nothing after it"},
		"start_tls and ldaps": {func(s *Source) { s.URL = "ldaps://a" }, "start_tls"},
		"unknown placeholder": {func(s *Source) { s.Base = "{nothing.here}" }, "base"},
		"no base":             {func(s *Source) { s.Base = "" }, "base is missing"},
		"base no name":        {func(s *Source) { s.Base = "people" }, "base"},
		"bind_dn no name":     {func(s *Source) { s.BindDN = "reader" }, "bind_dn"},
		"bind_dn alone":       {func(s *Source) { s.BindPassword = "" }, "belong together"},
		"a literal password":  {func(s *Source) { s.BindPassword = wordstest.Secret }, "expected a placeholder"},
		"an empty password":   {func(s *Source) { s.BindPassword = "{env.LDAP_EMPTY}" }, "bind_password"},
		"no name in filter":   {func(s *Source) { s.Filter = "(uid=ann)" }, "{username}"},
		"a broken filter":     {func(s *Source) { s.Filter = "(uid={username}" }, "filter"},
		"name for attribute":  {func(s *Source) { s.Filter = "({username}=x)" }, "filter"},
		"a broken lock":       {func(s *Source) { s.Locked = "(a=b" }, "locked"},
		"no attribute name":   {func(s *Source) { s.ID = "entry uuid" }, "not the name of an attribute"},
		"unknown field":       {func(s *Source) { s.Attributes = map[string]string{"color": "x"} }, "unknown field"},
		"no such ca":          {func(s *Source) { s.CA = "/nowhere" }, "ca"},
		"no certificate":      {func(s *Source) { s.CA = noCert }, "no certificate"},
		"ca without TLS":      {func(s *Source) { s.StartTLS, s.URL, s.CA = false, "ldap://[::1]", noCert }, "no TLS"},
		"a long timeout":      {func(s *Source) { s.Timeout = caddy.Duration(time.Hour) }, "timeout"},
		"a huge pool":         {func(s *Source) { s.Pool = 1000 }, "pool"},
	})
}

func TestIdentityFollowsEverySetting(t *testing.T) {
	wordstest.Identities(t, full, "LDAP_PASSWORD", func(s *Source) { s.Locked = "" }, func(s *Source) { s.Claims = nil })
}

func TestActiveDirectoryGUIDsAreRead(t *testing.T) {
	s := &settings{id: guid, fields: map[string]string{"username": "sAMAccountName"}}
	raw := []byte{0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}
	e := &ldap.Entry{DN: "cn=ann", Attributes: []*ldap.EntryAttribute{
		{Name: "objectguid", ByteValues: [][]byte{raw}},
		ldap.NewEntryAttribute("sAMAccountName", []string{"ann"}),
	}}
	u, err := s.userFrom(e)
	if err != nil || u.ID != "00112233-4455-6677-8899-aabbccddeeff" {
		t.Fatalf("%+v, %v", u, err)
	}
	filter, ok := s.idFilter(u.ID)
	if want := `(objectGUID=\33\22\11\00\55\44\77\66\88\99\aa\bb\cc\dd\ee\ff)`; !ok || filter != want {
		t.Errorf("%s, want %s", filter, want)
	}
	for _, id := range []string{"", "x", "00112233-4455-6677-8899-aabbccddee", "zz112233-4455-6677-8899-aabbccddeeff"} {
		if _, ok := s.idFilter(id); ok {
			t.Errorf("%q is taken for a GUID", id)
		}
	}
	e.Attributes[0].ByteValues[0] = raw[:8]
	if _, err := s.userFrom(e); err == nil {
		t.Error("half a GUID is taken")
	}
}

func TestInvalidEntryValuesAreOmitted(t *testing.T) {
	s := &settings{
		id: "uid", fields: map[string]string{"username": "uid", "name": "cn", "picture": "labeledURI", "email": "mail"},
		claims: map[string]string{"groups": "memberOf", "none": "x"},
	}
	entry := func(pairs ...string) *ldap.Entry {
		e := &ldap.Entry{DN: "uid=ann"}
		for i := 0; i < len(pairs); i += 2 {
			e.Attributes = append(e.Attributes, ldap.NewEntryAttribute(pairs[i], strings.Split(pairs[i+1], "|")))
		}
		return e
	}
	u, err := s.userFrom(entry("uid", "ann", "cn", "bad\x01|Ann", "labeledURI", "javascript:x", "mail", "\xff", "memberOf", "a|b"))
	if err != nil || u.Name != "Ann" || u.Picture != "" || u.Email != "" || fmt.Sprint(u.Claims) != "map[groups:[a b]]" {
		t.Errorf("%+v, %v", u, err)
	}
	for name, e := range map[string]*ldap.Entry{
		"two ids":        entry("uid", "a|b"),
		"no id":          entry("cn", "Ann"),
		"an id of words": entry("uid", "ann example"),
		"a client's id":  entry("uid", "client:x"),
	} {
		if _, err := s.userFrom(e); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
