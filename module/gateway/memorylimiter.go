package gateway

import (
	"context"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func init() { caddy.RegisterModule(new(MemoryLimiter)) }

// MemoryLimiter counts requests in this process, the default. Counts survive a reload
// and end with the process; several nodes count each for itself.
type MemoryLimiter struct{}

// CaddyModule returns the Caddy module information.
func (*MemoryLimiter) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.limiters.memory", New: func() caddy.Module { return new(MemoryLimiter) }}
}

// UnmarshalCaddyfile implements caddyfile.Unmarshaler. Syntax:
//
//	limiter memory
func (*MemoryLimiter) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // "memory"
	if d.NextArg() {
		return d.Errf("limiter memory: unexpected argument '%s', expected none", d.Val())
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		return d.Errf("limiter memory: unrecognized word '%s', expected no block", d.Val())
	}
	return nil
}

// memoryIdentity is that of the one in-process limiter of the process.
type memoryIdentity struct{}

// Identity implements [ratelimit.Plugin].
func (*MemoryLimiter) Identity() any { return memoryIdentity{} }

// Open implements [ratelimit.Plugin].
func (*MemoryLimiter) Open(context.Context) (ratelimit.OpenSource, error) {
	m, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	if err != nil {
		return nil, err
	}
	return ownMemory{m}, nil
}

// ownMemory cannot be out of reach and holds nothing but memory.
type ownMemory struct{ *ratelimit.Memory }

func (ownMemory) Health() error { return nil }
func (ownMemory) Close() error  { return nil }

// Interface guards
var (
	_ caddyfile.Unmarshaler = (*MemoryLimiter)(nil)
	_ ratelimit.Plugin      = (*MemoryLimiter)(nil)
)
