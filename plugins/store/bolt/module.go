package bolt

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/currentlog"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/internal/words"
)

func init() { caddy.RegisterModule(new(Bolt)) }

// Bolt keeps the gateway's state in a file on this machine. It needs nothing
// beside it and is the default; several machines need a shared store instead.
//
// A write is acknowledged when it is on the disk. Writes that come while another is on its way to the disk go there
// together, so that throughput does not depend on the disk's latency. Room that expired records leave is used again.
// When more than half of a file of 32 MiB or more is free, and no more than 128 MiB are in use, a copy without the free
// room takes its place, at the start or while the gateway runs; writes wait for it. `caddy gatehouse compact` does the
// same whatever the sizes. On Windows files stay as they are.
//
// The file, and `<path>.secret` beside it if no `secret` is configured, are for the gateway's own user only (mode
// 0600); a file that others can read is closed to them with a warning in the log.
type Bolt struct {
	// The state file. A relative path begins at the working directory. Default: `gatehouse/state.db` below Caddy's
	// data directory. The directory is made if it is missing. Placeholders such as `{env.STATE}` are replaced.
	Path string `json:"path,omitempty"`

	// How long a write may wait for others to share its way to the disk, from 0 to 1s. Default: 0, which already
	// gathers what comes during the write before. More is useful only where the disk itself is scarce. A change takes
	// effect when the process is started again.
	GroupCommit caddy.Duration `json:"group_commit,omitempty"`

	named    string // absolute, with symbolic links
	resolved string
}

var (
	_ caddy.Module          = (*Bolt)(nil)
	_ caddy.Provisioner     = (*Bolt)(nil)
	_ caddyfile.Unmarshaler = (*Bolt)(nil)
	_ store.Source          = (*Bolt)(nil)
)

// CaddyModule implements caddy.Module.
func (*Bolt) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.stores.bolt", New: func() caddy.Module { return new(Bolt) }}
}

// Provision implements caddy.Provisioner. It touches no file: it also runs when a
// configuration is merely validated, beside a process that holds the store.
func (b *Bolt) Provision(caddy.Context) error {
	if wait := time.Duration(b.GroupCommit); wait < 0 || wait > maxWait {
		return fmt.Errorf("store bolt: group_commit is %s, it must be from 0 to %s", wait, maxWait)
	}
	path := b.Path
	if path == "" {
		path = filepath.Join(caddy.AppDataDir(), "gatehouse", "state.db")
	}
	path, err := caddy.NewReplacer().ReplaceOrErr(path, true, true)
	if err != nil {
		return fmt.Errorf("store bolt: path: %w", err)
	}
	if b.named, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("store bolt: path %s: %w", path, err)
	}
	b.resolved, err = resolvePath(b.named)
	return err
}

// identity is the file alone: two configurations that differ in how to write it still cannot both have it open.
type identity struct{ path string }

// Identity implements store.Source.
func (b *Bolt) Identity() any { return identity{b.resolved} }

// Open implements store.Source.
func (b *Bolt) Open(ctx context.Context) (store.Backend, error) {
	backend, err := b.openFile(ctx)
	if err != nil {
		return nil, err // not a typed nil in the interface
	}
	return backend, nil
}

func (b *Bolt) openFile(ctx context.Context) (*Backend, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return Open(Options{
		Path:        b.resolved,
		GroupCommit: time.Duration(b.GroupCommit),
		// The store outlives the configuration, whose own logger ends with it.
		Logger: currentlog.Logger("gatehouse.stores.bolt"),
	})
}

// UnmarshalCaddyfile implements caddyfile.Unmarshaler. Syntax:
//
//	store bolt [<path>] {
//	    group_commit <duration>
//	}
func (b *Bolt) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // "bolt"
	if d.NextArg() {
		b.Path = d.Val()
		if b.Path == "" {
			return d.Err("store bolt: the path is empty")
		}
	}
	if d.NextArg() {
		return d.ArgErr()
	}
	return words.Block(d, "the bolt store", map[string]words.Reader{"group_commit": words.Duration(&b.GroupCommit)})
}
