package currentlog

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
	"go.uber.org/zap/zapcore"
)

// Logger returns the logger of a module, by its ID such as `gatehouse.stores.bolt`. The logs of a
// configuration include or exclude its lines by that ID.
func Logger(module string) *zap.Logger { return zap.New(newCore(module)).Named(module) }

// Slog is [Logger] for packages that use log/slog.
func Slog(module string) *slog.Logger {
	return slog.New(zapslog.NewHandler(newCore(module), zapslog.WithName(module)))
}

// core passes entries on to the configuration in force.
type core struct {
	module string
	fields []zapcore.Field
	last   *atomic.Pointer[resolved]
}

// resolved is the core of a configuration, which its context identifies.
type resolved struct {
	config context.Context
	core   zapcore.Core
}

func newCore(module string) *core { return &core{module: module, last: new(atomic.Pointer[resolved])} }

// inForce returns the core of the configuration in force, or that of Caddy's default log while
// there is none.
func (c *core) inForce() zapcore.Core {
	config := caddy.ActiveContext()
	if config.Context == nil {
		return caddy.Log().Core()
	}
	if r := c.last.Load(); r != nil && r.config == config.Context {
		return r.core
	}
	r := &resolved{config.Context, config.Logger(named(c.module)).Core()}
	c.last.Store(r)
	return r.core
}

// Enabled implements [zapcore.Core].
func (c *core) Enabled(level zapcore.Level) bool { return c.inForce().Enabled(level) }

// With implements [zapcore.Core].
func (c *core) With(fields []zapcore.Field) zapcore.Core {
	more := *c
	more.fields = append(c.fields[:len(c.fields):len(c.fields)], fields...)
	return &more
}

// Check implements [zapcore.Core].
func (c *core) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return c.withFields().Check(entry, checked)
}

// Write implements [zapcore.Core].
func (c *core) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	return c.withFields().Write(entry, fields)
}

// Sync implements [zapcore.Core].
func (c *core) Sync() error { return c.inForce().Sync() }

func (c *core) withFields() zapcore.Core {
	if len(c.fields) == 0 {
		return c.inForce()
	}
	return c.inForce().With(c.fields)
}

// named is a module of which only the ID matters.
type named string

// CaddyModule returns the Caddy module information.
func (n named) CaddyModule() caddy.ModuleInfo { return caddy.ModuleInfo{ID: caddy.ModuleID(n)} }
