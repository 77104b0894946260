package ldap

import (
	"context"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/currentlog"
	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/plugins/internal/remote"
	"github.com/gatehouse/gatehouse/plugins/internal/words"
)

func init() {
	caddy.RegisterModule(Source{})
}

// Source is a user directory in an LDAP server. A user who signs in is searched for with the account of `bind_dn`,
// and the password is checked by a bind as the entry that was found. More than one entry for a name is an error.
//
// An unknown name costs a bind too, as `bind_dn` with its own password, so that the time does not tell who is a user:
// let the server keep that password in the same form as those of the users. An empty password is never sent, since
// servers take it for an anonymous bind, which succeeds (RFC 4513 section 5.1.2).
//
// When users refresh their tokens they are looked up by `id` and the filter: whoever is
// deleted, locked or does not match the filter any more is refused. While the server
// cannot be reached nobody can sign in or refresh; the answer is 503.
type Source struct {
	// Where the server is: `ldaps://host[:port]`, or `ldap://host[:port]` with `start_tls`
	// or on a loopback address. Required.
	URL string `json:"url,omitempty"`
	// The entry that may search. Default: the search is anonymous.
	BindDN string `json:"bind_dn,omitempty"`
	// The password of `bind_dn`, a placeholder such as `{env.LDAP_PASSWORD}` or `{file./run/secrets/ldap}`.
	// Required with `bind_dn`.
	BindPassword string `json:"bind_password,omitempty"`
	// The entry below which users are. Required.
	Base string `json:"base,omitempty"`
	// What a user's entry matches (RFC 4515); `{username}` stands for what was typed, and
	// for anything when a user is looked up by id. Default: `(uid={username})`.
	Filter string `json:"filter,omitempty"`
	// The attribute that is the stable subject of the user's tokens, printable ASCII of at
	// most 255 characters, one value. `objectGUID` is read as such. Default: `entryUUID`.
	ID string `json:"id,omitempty"`
	// The attributes that have what is known of a user: `username` (default `uid`), `name` (`cn`),
	// `email` (`mail`), `nickname`, `picture`, `phone` (none).
	Attributes map[string]string `json:"attributes,omitempty"`
	// Further claims about the user and their attributes. Several values make a list. Default: none.
	Claims map[string]string `json:"claims,omitempty"`
	// What tells that a user is locked: an attribute with any value but `FALSE`, `NO` and
	// `0`, or a filter in parentheses that the user's entry matches, such as
	// `(userAccountControl:1.2.840.113556.1.4.803:=2)`. Of `pwdAccountLockedTime` only
	// `000001010000Z` counts, a lock by an administrator. Default: nobody is.
	Locked string `json:"locked,omitempty"`
	// Encrypts a connection to `ldap://` before anything else is sent.
	StartTLS bool `json:"start_tls,omitempty"`
	// A file with the certificates (PEM) to trust instead of the system's. Excludes `tls`. Default: the system's.
	CA string `json:"ca,omitempty"`
	// Which certificates to trust, from one of Caddy's modules. Default: the system's.
	TLS *remote.TLS `json:"tls,omitempty"`
	// How long one sign-in or look-up may take. Default: `3s`.
	Timeout caddy.Duration `json:"timeout,omitempty"`
	// How many connections are used at once, of either kind: for searches and for binds
	// as users. Others wait. Default: 8.
	Pool int `json:"pool,omitempty"`

	trusted  string // what TLS.TrustPool has, in PEM form
	settings *settings
}

// CaddyModule returns the Caddy module information.
func (Source) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.directories.ldap", New: func() caddy.Module { return new(Source) }}
}

// UnmarshalCaddyfile sets up the directory from Caddyfile tokens:
//
//	users ldap <url> {
//		bind_dn       <dn>
//		bind_password <placeholder>
//		base          <dn>
//		filter        <filter with {username}>
//		id            <attribute>
//		attributes {
//			username|name|nickname|email|phone|picture <attribute>
//			claim <name> <attribute>
//		}
//		locked    <attribute or filter>
//		start_tls
//		ca        <file>
//		tls {
//			trust_pool <module> ...
//		}
//		timeout   <duration>
//		pool      <number>
//	}
func (s *Source) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the module name
	if !d.AllArgs(&s.URL) {
		return d.Err("expected `ldap <url>`, the address of the server, such as ldaps://ldap.example.com")
	}
	return words.Block(d, "the LDAP directory", map[string]words.Reader{
		"bind_dn":       words.Text(&s.BindDN),
		"bind_password": words.Secret(&s.BindPassword, passwordExample),
		"base":          words.Text(&s.Base),
		"filter":        words.Text(&s.Filter),
		"id":            words.Text(&s.ID),
		"attributes":    words.User(&s.Attributes, &s.Claims, fields, "attribute"),
		"locked":        words.Text(&s.Locked),
		"start_tls":     words.Flag(&s.StartTLS),
		"ca":            words.Text(&s.CA),
		"tls":           remote.ReadTLS(&s.TLS),
		"timeout":       words.Duration(&s.Timeout),
		"pool":          words.Number(&s.Pool),
	})
}

const passwordExample = "LDAP_PASSWORD"

// Provision checks everything and resolves placeholders. It touches no network.
func (s *Source) Provision(ctx caddy.Context) error {
	var err error
	if s.trusted, err = s.TLS.Load(ctx, s.CA); err != nil {
		return fmt.Errorf("the LDAP directory: %w", err)
	}
	if s.settings, err = s.resolveSettings(caddy.NewReplacer()); err != nil {
		return fmt.Errorf("the LDAP directory: %w", err)
	}
	return nil
}

// Identity implements [directory.Source].
func (s *Source) Identity() any { return s.settings.identity }

// Open implements [directory.Source]. It connects nowhere: the first sign-in does.
func (s *Source) Open(context.Context) (directory.Directory, error) {
	// The directory may outlive the configuration, and with it its logger.
	return openDirectory(s.settings, time.Now, currentlog.Logger("gatehouse.directories.ldap")), nil
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Source)(nil)
	_ caddyfile.Unmarshaler = (*Source)(nil)
	_ directory.Source      = (*Source)(nil)
)
