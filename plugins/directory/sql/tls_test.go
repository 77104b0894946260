package sql_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	_ "github.com/caddyserver/caddy/v2/modules/caddytls" // trust_pool

	"github.com/gatehouse/gatehouse/module/directory"
	sqldir "github.com/gatehouse/gatehouse/plugins/directory/sql"
	"github.com/gatehouse/gatehouse/plugins/internal/remote"
)

// withTLS returns the DSN of a server to which connections are encrypted, with its certificate verified or not.
func (s server) withTLS(verify bool) string {
	switch {
	case s.Driver == "mysql" && verify:
		return s.DSN() + "?tls=true"
	case s.Driver == "mysql":
		return s.DSN() + "?tls=skip-verify"
	case verify:
		return strings.Replace(s.DSN(), "sslmode=disable", "sslmode=verify-full", 1)
	}
	return strings.Replace(s.DSN(), "sslmode=disable", "sslmode=require", 1)
}

// tlsVersion is how the database asks for the version of TLS of the connection that runs a query.
func (s server) tlsVersion() string {
	if s.Driver == "postgres" {
		return "(SELECT coalesce(version, '') FROM pg_stat_ssl WHERE pid = pg_backend_pid())"
	}
	return "(SELECT variable_value FROM information_schema.session_status WHERE variable_name = 'Ssl_version')"
}

func poolOf(file string) *remote.TLS {
	text, _ := json.Marshal(map[string]any{"provider": "file", "pem_files": []string{file}})
	return &remote.TLS{TrustPool: text}
}

func TestDatabaseIsAskedOverTLS(t *testing.T) {
	authorities := make(map[string]string)
	both(t, func(t *testing.T, s server) { authorities[s.Driver] = s.CA() })
	both(t, func(t *testing.T, s server) {
		another := authorities[map[string]string{"postgres": "mysql", "mysql": "postgres"}[s.Driver]]
		s.table(t)
		s.insert(t, directory.User{ID: "1", Username: "ann"}, cheap("secret"), "")
		for name, c := range map[string]struct {
			dsn     string
			change  func(*sqldir.Source)
			trusted bool
		}{
			"ca":                        {s.withTLS(true), func(src *sqldir.Source) { src.CA = s.CA() }, true},
			"Caddy's trust_pool":        {s.withTLS(true), func(src *sqldir.Source) { src.TLS = poolOf(s.CA()) }, true},
			"the system's certificates": {s.withTLS(true), func(*sqldir.Source) {}, false},
			"of no matter whom":         {s.withTLS(false), func(*sqldir.Source) {}, true},
			"of another authority":      {s.withTLS(true), func(src *sqldir.Source) { src.CA = another }, false},
		} {
			t.Run(name, func(t *testing.T) {
				d := s.open(t, func(src *sqldir.Source) {
					t.Setenv("USERS_DSN", c.dsn)
					c.change(src)
					src.Lookup = strings.Replace(src.Lookup, "department", s.tlsVersion()+" AS tls", 1)
				})
				u, ok, err := d.Lookup(t.Context(), "1")
				if version, _ := u.Claims["tls"].(string); (ok && err == nil && strings.HasPrefix(version, "TLSv1.")) != c.trusted {
					t.Errorf("%+v, %t, %v", u, ok, err)
				}
				if !c.trusted && err == nil {
					t.Error("no error")
				}
			})
		}
	})
}

// Whoever says which certificates to trust has to have them verified.
func TestCertificatesAreNotTrustedInVain(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		for name, c := range map[string]struct {
			dsn    string
			change func(*sqldir.Source)
			want   string
		}{
			"plain":                {s.DSN(), func(src *sqldir.Source) { src.CA = s.CA() }, "expected sslmode=verify-full (postgres) or tls=true (mysql)"},
			"not verified":         {s.withTLS(false), func(src *sqldir.Source) { src.TLS = poolOf(s.CA()) }, "expected sslmode=verify-full (postgres) or tls=true (mysql)"},
			"no such file":         {s.withTLS(true), func(src *sqldir.Source) { src.CA = "/nowhere" }, "ca: open /nowhere"},
			"no certificate":       {s.withTLS(true), func(src *sqldir.Source) { src.CA = "/dev/null" }, "/dev/null holds no certificate"},
			"both words":           {s.withTLS(true), func(src *sqldir.Source) { src.CA, src.TLS = s.CA(), poolOf(s.CA()) }, "either ca or tls"},
			"an empty placeholder": {s.withTLS(true), func(src *sqldir.Source) { src.CA = "{env.NOBODY_SETS_THIS}" }, "ca: "},
		} {
			t.Run(name, func(t *testing.T) {
				src := s.source(t, func(src *sqldir.Source) { c.change(src) })
				t.Setenv("USERS_DSN", c.dsn)
				ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
				defer cancel()
				if err := src.Provision(ctx); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Error(err)
				}
			})
		}
	})
}
