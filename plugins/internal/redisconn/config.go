package redisconn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/plugins/internal/remote"
	"github.com/gatehouse/gatehouse/plugins/internal/words"
)

// Config is what the plugins for Redis have in common.
type Config struct {
	// Where Redis is: `redis://host:port/db` for one server,
	// `redis+sentinel://host,host/master/db` for the primary that Sentinels name,
	// `redis+cluster://host,host` for a cluster; `rediss` instead of `redis` for TLS. User
	// and password can stand before the first host. Placeholders are replaced.
	// Required for a store; a limiter without one shares that of `store redis`.
	URL string `json:"url,omitempty"`
	// The prefix of every key: printable ASCII without braces and spaces, at most 64 characters.
	// Default: `gatehouse:`.
	Prefix string `json:"prefix,omitempty"`
	// How long one reply of Redis may take. Default: `200ms` for a store, `20ms` for a limiter.
	Timeout caddy.Duration `json:"timeout,omitempty"`
	// How to speak TLS. Default with `rediss`: the certificates the system trusts.
	TLS *TLS `json:"tls,omitempty"`
	// The ACL user. Default: the one in `url`, or else Redis's default user.
	Username string `json:"username,omitempty"`
	// The password. Best given as a placeholder such as `{env.REDIS_PASSWORD}`. Default: the one in `url`, or none.
	Password string `json:"password,omitempty"`
	// The ACL user for the Sentinels themselves. Default: none.
	SentinelUsername string `json:"sentinel_username,omitempty"`
	// The password for the Sentinels themselves. Default: none.
	SentinelPassword string `json:"sentinel_password,omitempty"`

	network *Network
}

// Network replaces the network that connections are made through.
type Network struct {
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Through sets the network of a configuration, for simulations.
func (c *Config) Through(n *Network) { c.network = n }

// TLS configures which certificates to trust, and the client's own.
type TLS struct {
	// A file with the certificates (PEM) to trust instead of the system's. Excludes `trust_pool`.
	// Default: the system's.
	CA string `json:"ca,omitempty"`
	// The certificates to trust, from one of Caddy's modules, such as
	// `{"provider": "file", "pem_files": ["/etc/ssl/redis.pem"]}`. Default: the system's.
	TrustPool json.RawMessage `json:"trust_pool,omitempty" caddy:"namespace=tls.ca_pool.source inline_key=provider"`
	// A file with a certificate (PEM) to present to Redis. Default: none.
	Cert string `json:"cert,omitempty"`
	// The file with the key (PEM) of `cert`. Required with `cert`.
	Key string `json:"key,omitempty"`
	// The name the certificate of Redis must have. Default: the host that is dialled.
	ServerName string `json:"server_name,omitempty"`

	trusted string // what TrustPool has, in PEM form
}

var errTwoTrusts = errors.New("expected either ca or trust_pool, which both say whom to trust")

// LoadTrust loads the module of `trust_pool`. It is to be called before [Config.Resolve].
func (c *Config) LoadTrust(ctx caddy.Context) (err error) {
	if c.TLS == nil || c.TLS.TrustPool == nil {
		return nil
	}
	if c.TLS.CA != "" {
		return fmt.Errorf("tls: %w", errTwoTrusts)
	}
	if c.TLS.trusted, err = remote.LoadTrustPool(ctx, c.TLS, "TrustPool"); err != nil {
		return fmt.Errorf("tls: trust_pool: %w", err)
	}
	return nil
}

// defaultPrefix is the prefix of keys unless another one is configured.
const defaultPrefix = "gatehouse:"

const maxPrefix = 64

// maxTimeout bounds Config.Timeout: requests wait that long.
const maxTimeout = 10 * time.Second

// Words returns the Caddyfile options that every plugin for Redis has.
func (c *Config) Words() map[string]words.Reader {
	return map[string]words.Reader{
		"prefix":            words.Text(&c.Prefix),
		"timeout":           words.Duration(&c.Timeout),
		"username":          words.Text(&c.Username),
		"password":          words.Secret(&c.Password, "REDIS_PASSWORD"),
		"sentinel_username": words.Text(&c.SentinelUsername),
		"sentinel_password": words.Secret(&c.SentinelPassword, "SENTINEL_PASSWORD"),
		"tls": func(d *caddyfile.Dispenser, word string) error {
			t := new(TLS)
			c.TLS = t
			known := map[string]*string{"ca": &t.CA, "cert": &t.Cert, "key": &t.Key, "server_name": &t.ServerName}
			if err := remote.TLSBlock(&t.TrustPool, known)(d, word); err != nil {
				return err
			}
			if t.CA != "" && t.TrustPool != nil {
				return d.Errf("tls: %w", errTwoTrusts)
			}
			return nil
		},
	}
}

// CheckLiteral refuses a URL with a password that is not a placeholder, without quoting it, and
// a URL without placeholders that is malformed. It is for a Caddyfile, because Caddy stores the
// adapted configuration.
func CheckLiteral(url string) error {
	_, rest, _ := strings.Cut(url, "://")
	if _, password, _ := cutCredentials(authorityOf(rest)); password != "" {
		if err := words.Placeholder(password, "REDIS_PASSWORD"); err != nil {
			return fmt.Errorf("the password in the address: %w", err)
		}
	}
	if strings.Contains(url, "{") {
		return nil
	}
	_, err := Parse(url)
	return err
}

// Resolve replaces placeholders and checks everything. It reads the TLS files and does not use
// the network.
func (c *Config) Resolve(repl *caddy.Replacer) (Settings, error) {
	s, err := parseAddress(c.URL, func(text string) (string, error) { return repl.ReplaceOrErr(text, true, true) })
	if err != nil {
		return Settings{}, err
	}
	user, password, sentinelPassword := s.username, revealText(s.password), ""
	for _, f := range []struct {
		name, text string
		into       *string
	}{
		{"prefix", c.Prefix, &s.Prefix}, {"username", c.Username, &user}, {"password", c.Password, &password},
		{"sentinel_username", c.SentinelUsername, &s.sentinelUsername}, {"sentinel_password", c.SentinelPassword, &sentinelPassword},
	} {
		if f.text == "" {
			continue
		}
		if (f.name == "username" || f.name == "password") && *f.into != "" {
			return Settings{}, fmt.Errorf("%s is given twice, in the address and as a word", f.name)
		}
		if *f.into, err = repl.ReplaceOrErr(f.text, true, true); err != nil {
			return Settings{}, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	s.username, s.password, s.sentinelPassword = user, hideText(password), hideText(sentinelPassword)
	s.Timeout, s.network = time.Duration(c.Timeout), c.network
	if c.TLS != nil {
		if err := s.setTrust(c.TLS, repl); err != nil {
			return Settings{}, fmt.Errorf("tls: %w", err)
		}
	}
	return s, s.checkSettings()
}

func (s *Settings) checkSettings() error {
	switch {
	case s.Timeout < 0 || s.Timeout > maxTimeout:
		return fmt.Errorf("timeout: expected at most %v", maxTimeout)
	case s.username != "" && revealText(s.password) == "":
		return errors.New("a username needs a password")
	case len(s.Prefix) > maxPrefix || strings.ContainsFunc(s.Prefix, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '{' || r == '}' }):
		return fmt.Errorf("prefix: expected at most %d printable ASCII characters without spaces and braces", maxPrefix)
	case s.mode != sentinel && (s.sentinelUsername != "" || revealText(s.sentinelPassword) != ""):
		return errors.New("sentinel_username and sentinel_password belong to redis+sentinel://")
	}
	return nil
}
