package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
	"github.com/gatehouse/gatehouse/plugins/internal/words"
)

func init() { caddy.RegisterModule(new(Limiter)) }

// maxNodes bounds Limiter.Nodes.
const maxNodes = 10_000

// Limiter counts requests in a Redis (7 or newer) or Valkey that several nodes share, so that
// a limit holds for all of them together, exactly.
//
// While Redis does not answer within `timeout`, each `api_limit` does what its `on_outage`
// says. Redis should be near: `timeout` is meant to be several times the round trip.
// It needs room: under a `maxmemory` with `noeviction`, a full Redis is an outage.
type Limiter struct {
	// Without `url` the limiter shares the Redis of the store. `timeout` is how long a request
	// waits for Redis before it is an outage. Default: 20ms.
	redisconn.Config

	// How many nodes share the limits: during an outage, with `on_outage local`, each of them
	// admits its part. Default: the nodes tell each other through Redis, and the last known number is used.
	Nodes int `json:"nodes,omitempty"`

	// The most bytes of Redis that counts take, for each policy of which there may be any number
	// of keys (`ip` and `by`), from 33554432 (32 MiB) to 1 TiB. A caller is counted as 400 bytes, and
	// 25 MiB are for buckets. When it is used up, callers without counts of their own share those
	// of one of 65,536 buckets until there is room again: no limit is exceeded, and
	// some callers may be refused early. A reload applies another size and keeps the counts. All nodes
	// should have the same. Default: 268435456 (256 MiB), for 605,552 callers.
	Size int64 `json:"size,omitempty"`

	settings redisconn.Settings
	resolved bool
}

var (
	_ caddy.Module          = (*Limiter)(nil)
	_ caddy.Provisioner     = (*Limiter)(nil)
	_ caddyfile.Unmarshaler = (*Limiter)(nil)
	_ ratelimit.Plugin      = (*Limiter)(nil)
)

// CaddyModule implements caddy.Module.
func (*Limiter) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.limiters.redis", New: func() caddy.Module { return new(Limiter) }}
}

// Provision implements caddy.Provisioner. It touches no network.
func (l *Limiter) Provision(ctx caddy.Context) error {
	if l.Nodes < 0 || l.Nodes > maxNodes {
		return fmt.Errorf("limiter redis: nodes is %d, it must be from 1 to %d", l.Nodes, maxNodes)
	}
	if l.Size != 0 {
		if err := checkSize(l.Size); err != nil {
			return err
		}
	}
	own := l.Config
	if own.URL == "" {
		if own.TLS != nil || own.Username != "" || own.Password != "" || own.SentinelUsername != "" || own.SentinelPassword != "" {
			return errors.New("limiter redis: without an address the connection is the store's; credentials and tls belong to one with an address")
		}
		own.URL = "redis://store" // for the checks of the rest
	}
	if err := own.LoadTrust(ctx); err != nil {
		return fmt.Errorf("limiter redis: %w", err)
	}
	settings, err := own.Resolve(caddy.NewReplacer())
	if err != nil {
		return fmt.Errorf("limiter redis: %w", err)
	}
	l.settings, l.resolved = settings, l.URL != ""
	return nil
}

// BesideStore tells the limiter which store the gateway has. One without an address
// shares that store's Redis, and has no use for any other store. It is to be called after
// Provision and before Identity and Open.
func (l *Limiter) BesideStore(store any) error {
	if l.URL != "" {
		return nil
	}
	shared, ok := store.(interface{ Connection() redisconn.Settings })
	if !ok {
		return errors.New("limiter redis: without an address it shares the store's Redis, but the store is not in Redis; write `limiter redis redis://host:port/db`")
	}
	settings := shared.Connection()
	if l.Prefix != "" {
		settings.Prefix = l.settings.Prefix
	}
	settings.Timeout = time.Duration(l.Timeout)
	l.settings, l.resolved = settings, true
	return nil
}

// identity holds all that shapes a source.
type sourceIdentity struct {
	settings redisconn.Settings
	nodes    int
	size     int64
}

// Identity implements [ratelimit.Plugin].
func (l *Limiter) Identity() any { return sourceIdentity{l.settings, l.Nodes, l.size()} }

func (l *Limiter) size() int64 {
	if l.Size == 0 {
		return defaultSize
	}
	return l.Size
}

// Open implements [ratelimit.Plugin].
func (l *Limiter) Open(ctx context.Context) (ratelimit.OpenSource, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !l.resolved {
		return nil, errors.New("limiter redis: it has no address, and nobody said which store it stands beside")
	}
	s, err := newSource(config{settings: l.settings, nodes: l.Nodes, denials: maxDenials, leases: maxLeases, callers: callersIn(l.size())})
	if err != nil {
		return nil, fmt.Errorf("limiter redis: %w", l.settings.Clean(err))
	}
	return s, nil
}

// UnmarshalCaddyfile implements caddyfile.Unmarshaler. Syntax:
//
//	limiter redis [<url>] {
//	    prefix   <text>
//	    nodes    <number>
//	    size     <bytes>
//	    timeout  <duration>
//	    tls {
//	        trust_pool  <module> ...
//	        ca          <file>
//	        cert        <file>
//	        key         <file>
//	        server_name <name>
//	    }
//	    username <name>
//	    password <placeholder>
//	    sentinel_username <name>
//	    sentinel_password <placeholder>
//	}
func (l *Limiter) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // "redis"
	if d.NextArg() {
		l.URL = d.Val()
		if l.URL == "" || d.NextArg() {
			return d.Err("expected `limiter redis [<url>]`, such as redis://10.0.0.6:6379/0, or no address to share the store's")
		}
		if err := redisconn.CheckLiteral(l.URL); err != nil {
			return d.Errf("limiter redis: %v", err)
		}
	}
	known := l.Words()
	known["nodes"] = words.Number(&l.Nodes)
	known["size"] = func(d *caddyfile.Dispenser, word string) error {
		if err := words.Size(&l.Size)(d, word); err != nil {
			return err
		}
		if err := checkSize(l.Size); err != nil {
			return d.WrapErr(err)
		}
		return nil
	}
	return words.Block(d, "limiter redis", known)
}
