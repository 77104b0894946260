package sql

import (
	"context"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/currentlog"
	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/plugins/internal/remote"
	"github.com/gatehouse/gatehouse/plugins/internal/words"
)

func init() { caddy.RegisterModule(Source{}) }

// Source is a user directory in a database. The name of a column says what it means: `id` (the stable
// subject of tokens), `username`, `password_hash` or `password`, `salt`, `name`, `nickname`, `picture`, `email`,
// `phone` and `locked`; all others become claims, so name the columns and select no more than is needed. `id` and
// `username` are required. NULL counts as absent.
//
// Password hashes may have every form that `users file` accepts. What was typed to
// sign in must be the row's `username`, `email` or `phone`, letter case aside: databases
// find more for a name than its user, such as `ánn` for `ann`. More than one row is an error.
//
// Queries run in read-only transactions, with the name or ID as their only parameter.
type Source struct {
	// `postgres` or `mysql` (also for MariaDB). Required.
	Driver string `json:"driver,omitempty"`
	// The address of the database with user and password, a placeholder such as `{env.USERS_DSN}`, for
	// `postgres://shop:password@10.0.0.7/shop?sslmode=verify-full` or
	// `shop:password@tcp(10.0.0.7:3306)/shop?tls=true`. Required.
	DSN string `json:"dsn,omitempty"`
	// The query for the user who signs in; `$1` (or `?` in MySQL) is what was typed. Required.
	Query string `json:"query,omitempty"`
	// The query for the user of an ID, asked when tokens are refreshed. Required.
	Lookup string `json:"lookup,omitempty"`
	// How digests in hex were made: `md5`, `sha1`, `sha256` or `sha512` of `password` and `salt`, such as
	// `md5(salt+password)` or `md5(md5(password)+salt)`. Default: digests in hex are not taken.
	Scheme string `json:"scheme,omitempty"`
	// The statement that replaces the hash of a user who signs in, when it is of an older
	// form: `$1` is the new hash, `$2` the user's ID. Default: hashes stay as they are.
	Upgrade string `json:"upgrade,omitempty"`
	// The form of the hash that `upgrade` writes: `argon2id`, the default, or `bcrypt`, for other programs that check
	// these hashes too.
	UpgradeTo string `json:"upgrade_to,omitempty"`
	// A hash of the kind that most users have. An unknown name takes as long to check as one with this hash, so that the
	// time does not tell who is a user. Default: the most frequent kind among recent sign-ins.
	Dummy string `json:"dummy,omitempty"`
	// A file with the certificates (PEM) to trust instead of the system's. The DSN has to ask for a verified
	// certificate, with `sslmode=verify-full` or `tls=true`. Excludes `tls`. Default: the system's.
	CA string `json:"ca,omitempty"`
	// Which certificates to trust, from one of Caddy's modules. Default: the system's.
	TLS *remote.TLS `json:"tls,omitempty"`
	// How many connections are open at once. Default: 4.
	MaxConnections int `json:"max_connections,omitempty"`
	// How long a query may take; the database is told to end it then. Default: `3s`.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	trusted  string // what TLS.TrustPool has, in PEM form
	settings *settings
}

// CaddyModule returns the Caddy module information.
func (Source) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.directories.sql", New: func() caddy.Module { return new(Source) }}
}

// UnmarshalCaddyfile sets up the directory from Caddyfile tokens:
//
//	users sql postgres|mysql {
//		dsn             <placeholder>
//		query           <statement>
//		lookup          <statement>
//		scheme          <digest of password and salt>
//		upgrade         <statement>
//		upgrade_to      argon2id|bcrypt
//		dummy           <hash>
//		ca              <file>
//		tls {
//			trust_pool <module> ...
//		}
//		max_connections <number>
//		timeout         <duration>
//	}
func (s *Source) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the module name
	if !d.AllArgs(&s.Driver) || !slices.Contains(drivers, s.Driver) {
		return d.Err("expected `sql postgres` or `sql mysql` and a block")
	}
	err := words.Block(d, "the SQL directory", map[string]words.Reader{
		"dsn":             words.Secret(&s.DSN, dsnExample),
		"query":           words.Text(&s.Query),
		"lookup":          words.Text(&s.Lookup),
		"scheme":          words.Text(&s.Scheme),
		"upgrade":         words.Text(&s.Upgrade),
		"upgrade_to":      words.Text(&s.UpgradeTo),
		"dummy":           words.Text(&s.Dummy),
		"ca":              words.Text(&s.CA),
		"tls":             remote.ReadTLS(&s.TLS),
		"max_connections": words.Number(&s.MaxConnections),
		"timeout":         words.Duration(&s.Timeout),
	})
	if err != nil {
		return err
	}
	switch "" {
	case s.DSN:
		return d.Err("users sql: dsn is missing")
	case s.Query:
		return d.Err("users sql: query is missing")
	case s.Lookup:
		return d.Err("users sql: lookup is missing")
	}
	return nil
}

const dsnExample = "USERS_DSN"

// Provision checks everything and resolves the placeholder. It touches no network.
func (s *Source) Provision(ctx caddy.Context) (err error) {
	if s.trusted, err = s.TLS.Load(ctx, s.CA); err != nil {
		return fmt.Errorf("the SQL directory: %w", err)
	}
	if s.settings, err = s.resolveSettings(caddy.NewReplacer()); err != nil {
		return fmt.Errorf("the SQL directory: %w", err)
	}
	return nil
}

// Identity implements [directory.Source].
func (s *Source) Identity() any { return s.settings.identity }

// Open implements [directory.Source]. It connects nowhere: the first sign-in does.
func (s *Source) Open(context.Context) (directory.Directory, error) {
	// The directory may outlive the configuration, and with it its logger.
	return openDirectory(s.settings, currentlog.Logger("gatehouse.directories.sql")), nil
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Source)(nil)
	_ caddyfile.Unmarshaler = (*Source)(nil)
	_ directory.Source      = (*Source)(nil)
)
