package gateway

import (
	"context"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/bytesize"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func init() { caddy.RegisterModule(new(MemoryLimiter)) }

// MemoryLimiter, the limiter `memory`, counts requests in this process; it is the default. Counts survive a reload
// and end with the process; each node counts for itself.
type MemoryLimiter struct {
	// The most memory for counts, in bytes, from 2097152 (2 MiB) to 1 TiB. A caller
	// takes 68 bytes for each policy, and 316 if requests are spread over most of a window.
	// When it is full, the callers idle for longest lose their own counts and share
	// those of one of thousands of buckets: no limit is exceeded, and those callers may be
	// refused early. A reload applies another size and keeps the counts. Default: 268435456
	// (256 MiB), or a quarter of the memory limit of the Go runtime (`GOMEMLIMIT`, which
	// Caddy sets from the container's limit) if that is less.
	Size int64 `json:"size,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (*MemoryLimiter) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.limiters.memory", New: func() caddy.Module { return new(MemoryLimiter) }}
}

// Provision implements caddy.Provisioner.
func (l *MemoryLimiter) Provision(caddy.Context) error {
	if l.Size != 0 {
		return l.check()
	}
	return nil
}

func (l *MemoryLimiter) check() error {
	if l.Size < ratelimit.MinSize || l.Size > ratelimit.MaxSize {
		return fmt.Errorf("limiter memory: size is %d bytes, expected %d (2MiB) to %d (1024GiB)", l.Size, ratelimit.MinSize, int64(ratelimit.MaxSize))
	}
	return nil
}

// UnmarshalCaddyfile implements caddyfile.Unmarshaler. Syntax:
//
//	limiter memory {
//	    size <bytes>
//	}
func (l *MemoryLimiter) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // "memory"
	if d.NextArg() {
		return d.Errf("limiter memory: unexpected argument '%s', expected none", d.Val())
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if d.Val() != "size" {
			return d.Errf("limiter memory: unrecognized word '%s', expected size", d.Val())
		}
		if l.Size != 0 {
			return d.Err("limiter memory: size is given twice")
		}
		var text string
		if !d.AllArgs(&text) {
			return d.Err("limiter memory: size: expected one size such as 256MiB")
		}
		var ok bool
		if l.Size, ok = bytesize.Parse(text); !ok {
			return d.Errf("limiter memory: size: invalid size '%s', expected one such as 256MiB", text)
		}
		if err := l.check(); err != nil {
			return d.WrapErr(err)
		}
	}
	return nil
}

// memoryIdentity is that of the one in-process limiter of the process.
type memoryIdentity struct{}

// Identity implements [ratelimit.Plugin]. It does not include the size: counts survive a
// change of it.
func (*MemoryLimiter) Identity() any { return memoryIdentity{} }

// Open implements [ratelimit.Plugin].
func (l *MemoryLimiter) Open(context.Context) (ratelimit.OpenSource, error) {
	m, err := ratelimit.NewMemory(ratelimit.MemoryConfig{Size: l.Size})
	if err != nil {
		return nil, err
	}
	return ownMemory{m}, nil
}

// Adjust implements adjuster.
func (l *MemoryLimiter) Adjust(open ratelimit.OpenSource) error {
	if m, ok := open.(ownMemory); ok {
		return m.Resize(l.Size)
	}
	return nil
}

// ownMemory is always reachable, and has nothing to close.
type ownMemory struct{ *ratelimit.Memory }

func (ownMemory) Health() error { return nil }
func (ownMemory) Close() error  { return nil }

// Interface guards
var (
	_ caddy.Provisioner     = (*MemoryLimiter)(nil)
	_ caddyfile.Unmarshaler = (*MemoryLimiter)(nil)
	_ ratelimit.Plugin      = (*MemoryLimiter)(nil)
	_ adjuster              = (*MemoryLimiter)(nil)
)
