package sql

import (
	"cmp"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/gatehouse/gatehouse/module/directory/password"
	"github.com/gatehouse/gatehouse/plugins/internal/remote"
	"github.com/gatehouse/gatehouse/plugins/internal/words"
)

var drivers = []string{"postgres", "mysql"}

const (
	defaultConnections = 4
	maxConnections     = 100
)

// settings are a source's, checked and with the placeholder replaced.
type settings struct {
	connector              driver.Connector
	query, lookup, upgrade string
	bcrypt                 bool
	scheme                 password.Scheme
	dummy                  *password.Parsed // nil: the kind that most have
	connections            int
	timeout                time.Duration
	identity               remote.Identity
}

func (s *Source) resolveSettings(repl *caddy.Replacer) (*settings, error) {
	if !slices.Contains(drivers, s.Driver) {
		return nil, errors.New("driver: expected postgres or mysql")
	}
	if err := words.Placeholder(s.DSN, dsnExample); err != nil {
		return nil, fmt.Errorf("dsn: %w", err)
	}
	dsn, err := repl.ReplaceOrErr(s.DSN, true, true)
	if err != nil {
		return nil, fmt.Errorf("dsn: %w", err)
	}
	made := &settings{
		query: s.Query, lookup: s.Lookup, upgrade: s.Upgrade, bcrypt: s.UpgradeTo == "bcrypt",
		connections: cmp.Or(s.MaxConnections, defaultConnections),
	}
	if made.timeout, err = remote.Timeout(s.Timeout); err != nil {
		return nil, err
	}
	switch {
	case made.connections < 1 || made.connections > maxConnections:
		return nil, fmt.Errorf("max_connections: expected a number from 1 to %d", maxConnections)
	case s.UpgradeTo != "" && s.UpgradeTo != "argon2id" && s.UpgradeTo != "bcrypt":
		return nil, fmt.Errorf("upgrade_to: expected argon2id or bcrypt, got %s", s.UpgradeTo)
	case s.UpgradeTo != "" && s.Upgrade == "":
		return nil, errors.New("upgrade_to: there is no upgrade")
	}
	if err := s.statements(); err != nil {
		return nil, err
	}
	if s.Scheme != "" {
		if made.scheme, err = password.ParseScheme(s.Scheme); err != nil {
			return nil, fmt.Errorf("scheme: %w", err)
		}
	}
	if s.Dummy != "" {
		if made.dummy, err = password.Parse(s.Dummy); err != nil {
			return nil, fmt.Errorf("dummy: %w", err)
		}
	}
	ca, err := repl.ReplaceOrErr(s.CA, true, true)
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	trusted := s.trusted
	if ca != "" {
		if _, trusted, err = remote.Roots(ca); err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
	}
	if made.connector, err = parseDSN(s.Driver, dsn, trusted, made.timeout); err != nil {
		return nil, err
	}
	made.identity, err = remote.NewIdentity(s.Driver, dsn, trusted, s.Query, s.Lookup, s.Upgrade, s.UpgradeTo, s.Scheme, s.Dummy, made.connections, made.timeout)
	return made, err
}

// star finds columns that nobody named.
var star = regexp.MustCompile(`(?i)(?:\bselect\s+(?:all\s+|distinct\s+)?|,\s*)(?:[\w"` + "`" + `]+\s*\.\s*)?\*\s*(?:,|\bfrom\b)`)

// statements checks that each has the parameters that will be bound. The database checks
// the rest.
func (s *Source) statements() error {
	for _, q := range []struct {
		name, text string
		parameters int
	}{{"query", s.Query, 1}, {"lookup", s.Lookup, 1}, {"upgrade", s.Upgrade, 2}} {
		if q.text == "" && q.name == "upgrade" {
			continue
		}
		if q.text == "" {
			return fmt.Errorf("%s: required", q.name)
		}
		if star.MatchString(q.text) {
			return fmt.Errorf("%s: name the columns: every other column of the table would become a claim of the user", q.name)
		}
		found, want := strings.Count(q.text, "?"), "`?`"
		if s.Driver == "postgres" {
			want = "`$1`"
			found = 0
			for strings.Contains(q.text, fmt.Sprintf("$%d", found+1)) {
				found++
			}
		}
		if q.parameters == 2 {
			want = map[string]string{"postgres": "`$1` for the hash and `$2` for the id", "mysql": "two `?`, for the hash and then the id"}[s.Driver]
		}
		if found != q.parameters {
			return fmt.Errorf("%s: expected %s in it, and no other parameter", q.name, want)
		}
	}
	return nil
}

// trustOnly makes certificates in PEM form the only ones that connections trust; with "" it leaves them as
// they are.
func trustOnly(trusted string, connections ...*tls.Config) error {
	if trusted == "" {
		return nil
	}
	for _, c := range connections {
		if c == nil || c.InsecureSkipVerify {
			return errors.New("ca or tls: the dsn does not have the server's certificate verified: expected sslmode=verify-full (postgres) or tls=true (mysql) in it")
		}
		if err := remote.TrustText(c, trusted); err != nil {
			return err
		}
	}
	return nil
}

// parseDSN reads the DSN. It does not quote it, nor what the drivers say about it: there
// is a password in it. trusted are the certificates to trust, in PEM form; "" means the system's.
func parseDSN(name, dsn, trusted string, timeout time.Duration) (driver.Connector, error) {
	if name == "postgres" {
		c, err := pgx.ParseConfig(dsn)
		if err != nil {
			return nil, errors.New("dsn: not understood, expected one such as postgres://user:password@host:5432/database?sslmode=verify-full")
		}
		if c.DefaultQueryExecMode == pgx.QueryExecModeSimpleProtocol {
			return nil, errors.New("dsn: default_query_exec_mode simple_protocol puts parameters into the text of a query: expected exec, or none")
		}
		if c.RuntimeParams["client_encoding"] == "" {
			c.RuntimeParams["client_encoding"] = "UTF8" // else a database in another character set sends and takes that
		}
		if c.ConnectTimeout == 0 {
			c.ConnectTimeout = timeout
		}
		connections := []*tls.Config{c.TLSConfig}
		for _, other := range c.Fallbacks {
			connections = append(connections, other.TLSConfig)
		}
		if err := trustOnly(trusted, connections...); err != nil {
			return nil, err
		}
		return postgresConnector(c, timeout), nil
	}
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, errors.New("dsn: not understood, expected one such as user:password@tcp(host:3306)/database?tls=true")
	}
	if err := trustOnly(trusted, c.TLS); err != nil {
		return nil, err
	}
	// Neither may a parameter become text of a query, nor a query be two, nor may a server
	// ask for files of this machine.
	c.InterpolateParams, c.MultiStatements, c.AllowAllFiles = false, false, false
	c.ParseTime = true
	c.Logger = &mysql.NopLogger{}
	if c.Timeout == 0 {
		c.Timeout = timeout
	}
	made, err := mysql.NewConnector(c)
	if err != nil {
		return nil, errors.New("dsn: not accepted by the mysql driver")
	}
	return limitQueries(made, c, timeout), nil
}
