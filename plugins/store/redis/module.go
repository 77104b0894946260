package redis

import (
	"context"
	"fmt"
	"maps"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/currentlog"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
	"github.com/gatehouse/gatehouse/plugins/internal/words"
)

func init() { caddy.RegisterModule(new(Redis)) }

// Redis keeps the gateway's state in a Redis 7 or newer, or a Valkey, that any number of
// gateways share: one server, the primary that Sentinels name, or a Cluster. It needs
// `maxmemory-policy noeviction`: a Redis that evicts forgets revocations and used codes.
//
// What is written is as durable as that Redis: set `appendonly yes` for a restart, and `replicas` for a failover. If
// Redis does not answer in time, clients get 503; no request to it is repeated. All answers that one request of a
// client needs may together take 1.2 times `timeout` longer than usual; after that the gateway waits an eighth of
// `timeout` for each: with the default, 503 comes within 300 ms.
//
// Everything in it begins with `prefix`. An ACL user needs
// `~gatehouse:* &gatehouse:* +@read +@write +@connection -@dangerous -@scripting +eval +evalsha
// +info +time +wait +publish +subscribe +unsubscribe`, and in a cluster `+cluster|slots +asking` too.
type Redis struct {
	redisconn.Config

	// How many replicas must confirm a write before it counts, from 0 to 16. Default: 0, the primary alone. A
	// failover undoes what the replica that takes over did not have: with 0, that may be the last second, and a code
	// used then can be used again; with as many as there are replicas, nothing that was answered is lost. With fewer
	// replicas at hand than this, writes are refused with 503, though they may have taken effect.
	Replicas int `json:"replicas,omitempty"`

	settings redisconn.Settings
}

var (
	_ caddy.Module          = (*Redis)(nil)
	_ caddy.Provisioner     = (*Redis)(nil)
	_ caddyfile.Unmarshaler = (*Redis)(nil)
	_ store.Source          = (*Redis)(nil)
)

// CaddyModule implements caddy.Module.
func (*Redis) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.stores.redis", New: func() caddy.Module { return new(Redis) }}
}

// Provision implements caddy.Provisioner. It touches no network.
func (r *Redis) Provision(ctx caddy.Context) (err error) {
	if r.Replicas < 0 || r.Replicas > maxReplicas {
		return fmt.Errorf("store redis: replicas: expected a number from 0 to %d", maxReplicas)
	}
	if err := r.LoadTrust(ctx); err != nil {
		return fmt.Errorf("store redis: %w", err)
	}
	if r.settings, err = r.Resolve(caddy.NewReplacer()); err != nil {
		return fmt.Errorf("store redis: %w", err)
	}
	return nil
}

// identity is everything: a reload with another password or certificate opens anew.
type identity struct {
	settings redisconn.Settings
	replicas int
}

// Identity implements store.Source.
func (r *Redis) Identity() any { return identity{r.settings, r.Replicas} }

// NeedsSecret tells the gateway that a secret beside the records would be no secret, and
// one beside each node not the same: it must be configured.
func (r *Redis) NeedsSecret() bool { return true }

// Connection is what a limiter without an address of its own shares.
func (r *Redis) Connection() redisconn.Settings { return r.settings }

// Open implements store.Source. It waits for no server.
func (r *Redis) Open(ctx context.Context) (store.Backend, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	backend, err := Open(Options{
		Settings: r.settings,
		Replicas: r.Replicas,
		// The store outlives the configuration, whose own logger ends with it.
		Logger: currentlog.Logger("gatehouse.stores.redis"),
	})
	if err != nil {
		return nil, err // not a typed nil in the interface
	}
	return backend, nil
}

// UnmarshalCaddyfile implements caddyfile.Unmarshaler. Syntax:
//
//	store redis <url> {
//	    prefix            <text>
//	    replicas          <number>
//	    timeout           <duration>
//	    username          <name>
//	    password          <placeholder>
//	    sentinel_username <name>
//	    sentinel_password <placeholder>
//	    tls {
//	        trust_pool  <module> ...
//	        ca          <file>
//	        cert        <file>
//	        key         <file>
//	        server_name <name>
//	    }
//	}
func (r *Redis) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // "redis"
	if !d.AllArgs(&r.URL) || r.URL == "" {
		return d.Err("expected `store redis <url>`, such as redis://10.0.0.5:6379/0")
	}
	if err := redisconn.CheckLiteral(r.URL); err != nil {
		return d.Errf("store redis: %w", err)
	}
	known := map[string]words.Reader{"replicas": words.Number(&r.Replicas)}
	maps.Copy(known, r.Words())
	return words.Block(d, "the Redis store", known)
}
