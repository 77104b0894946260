package ldap

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/go-ldap/ldap/v3"

	"github.com/gatehouse/gatehouse/plugins/internal/remote"
	"github.com/gatehouse/gatehouse/plugins/internal/words"
)

const (
	// placeholder stands in a filter for what was typed.
	placeholder = "{username}"
	usualPool   = 8
	maxPool     = 256
)

// fields are those of a user that an attribute can fill.
var fields = []string{"username", "name", "nickname", "email", "phone", "picture"}

// attributeName is RFC 4512 section 2.5, options included.
var attributeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*(;[A-Za-z0-9-]+)*$|^[0-9]+(\.[0-9]+)+$`)

// settings are a checked configuration. They are immutable.
type settings struct {
	identity remote.Identity // of everything below, the password included
	host     string          // with port
	tls      *tls.Config
	ldaps    bool // TLS from the first byte; else tls is for StartTLS, nil for none
	bindDN   string
	password string
	base     string
	filter   string
	id       string
	fields   map[string]string
	claims   map[string]string
	// At most one of the two is set.
	lockedAttribute, lockedFilter string
	attributes                    []string // all that are asked for
	timeout                       time.Duration
	pool                          int
}

func (s *Source) resolveSettings(repl *caddy.Replacer) (*settings, error) {
	c := *s
	for name, value := range map[string]*string{"url": &c.URL, "bind_dn": &c.BindDN, "base": &c.Base, "ca": &c.CA} {
		var err error
		if *value, err = repl.ReplaceOrErr(*value, true, true); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	out := &settings{
		bindDN: c.BindDN, base: c.Base, filter: cmp.Or(c.Filter, "(uid="+placeholder+")"), id: cmp.Or(c.ID, "entryUUID"),
		claims: c.Claims, fields: map[string]string{"username": "uid", "name": "cn", "email": "mail"}, pool: cmp.Or(c.Pool, usualPool),
	}
	if out.pool < 0 || out.pool > maxPool {
		return nil, fmt.Errorf("pool is at most %d", maxPool)
	}
	var err error
	if out.timeout, err = remote.Timeout(c.Timeout); err != nil {
		return nil, err
	}
	for _, check := range []func(*Source, *caddy.Replacer) error{out.setAddress, out.setAccount, out.setSearch, out.setNames} {
		if err := check(&c, repl); err != nil {
			return nil, err
		}
	}
	if (c.CA != "" || c.TLS != nil) && out.tls == nil {
		return nil, errors.New("ca or tls: there is no TLS to check: use ldaps:// or start_tls")
	}
	roots, err := remote.Trust(out.tls, c.CA)
	if err != nil {
		return nil, err
	}
	if err := remote.TrustText(out.tls, c.trusted); err != nil {
		return nil, err
	}
	out.identity, err = remote.NewIdentity(c, out.password, roots, c.trusted)
	return out, err
}

// setAddress allows no password to cross a network in the clear.
func (out *settings) setAddress(c *Source, _ *caddy.Replacer) error {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("url: expected ldaps://host or ldap://host, perhaps with a port, and nothing after it")
	}
	port := u.Port()
	switch {
	case u.Scheme == "ldaps" && c.StartTLS:
		return errors.New("start_tls is for ldap://; with ldaps:// everything is encrypted already")
	case u.Scheme == "ldaps":
		out.ldaps = true
		if port == "" {
			port = "636"
		}
	case u.Scheme != "ldap":
		return fmt.Errorf("url: expected ldaps:// or ldap://, got %q", u.Scheme)
	case !c.StartTLS && !remote.Loopback(u.Hostname()):
		return errors.New("url: ldap:// would send passwords in the clear: use ldaps://, or start_tls")
	case port == "":
		port = "389"
	}
	out.host = net.JoinHostPort(u.Hostname(), port)
	if out.ldaps || c.StartTLS {
		out.tls = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
	}
	return nil
}

func (out *settings) setAccount(c *Source, repl *caddy.Replacer) error {
	switch {
	case c.BindDN == "" && c.BindPassword == "":
		return nil
	case c.BindDN == "" || c.BindPassword == "":
		return errors.New("bind_dn and bind_password belong together")
	}
	if err := words.Placeholder(c.BindPassword, passwordExample); err != nil {
		return fmt.Errorf("bind_password: %w", err)
	}
	if _, err := ldap.ParseDN(c.BindDN); err != nil {
		return fmt.Errorf("bind_dn: %w", err)
	}
	var err error
	if out.password, err = repl.ReplaceOrErr(c.BindPassword, true, true); err != nil {
		return fmt.Errorf("bind_password: %w", err)
	}
	if out.password == "" {
		return errors.New("bind_password is empty")
	}
	return nil
}

func (out *settings) setSearch(c *Source, _ *caddy.Replacer) error {
	if c.Base == "" {
		return errors.New("base is missing: expected the entry below which users are, such as ou=people,dc=example,dc=com")
	}
	if _, err := ldap.ParseDN(c.Base); err != nil {
		return fmt.Errorf("base: %w", err)
	}
	if !strings.Contains(out.filter, placeholder) {
		return errors.New("filter: expected " + placeholder + " in it, for what the user typed")
	}
	parts := strings.Split(out.filter, placeholder)
	for i := range parts[1:] {
		before := strings.Join(parts[:i+1], "")
		if strings.LastIndexByte(before, '=') < strings.LastIndexByte(before, '(') {
			return errors.New("filter: " + placeholder + " stands for a value, behind =, and for nothing else")
		}
	}
	for _, filled := range []string{fillFilter(out.filter, "x"), fillFilter(out.filter, "*")} {
		if _, err := ldap.CompileFilter(filled); err != nil {
			return fmt.Errorf("filter: %w", err)
		}
	}
	switch {
	case strings.HasPrefix(c.Locked, "("):
		if _, err := ldap.CompileFilter(c.Locked); err != nil {
			return fmt.Errorf("locked: %w", err)
		}
		out.lockedFilter = c.Locked
	default:
		out.lockedAttribute = c.Locked
	}
	return nil
}

// fillFilter puts a value that is escaped already into the filter.
func fillFilter(filter, value string) string { return strings.ReplaceAll(filter, placeholder, value) }

func (out *settings) setNames(c *Source, _ *caddy.Replacer) error {
	for field, attribute := range c.Attributes {
		if !slices.Contains(fields, field) {
			return fmt.Errorf("attributes: unknown field %q, expected one of %s", field, strings.Join(fields, ", "))
		}
		out.fields[field] = attribute
	}
	out.attributes = []string{out.id}
	if out.lockedAttribute != "" {
		out.attributes = append(out.attributes, out.lockedAttribute)
	}
	for _, set := range []map[string]string{out.fields, out.claims} {
		for _, attribute := range set {
			out.attributes = append(out.attributes, attribute)
		}
	}
	for _, attribute := range out.attributes {
		if !attributeName.MatchString(attribute) {
			return fmt.Errorf("%q is not the name of an attribute", attribute)
		}
	}
	slices.Sort(out.attributes)
	out.attributes = slices.Compact(out.attributes)
	return nil
}
