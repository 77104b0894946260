package gateway

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

func init() { caddy.RegisterModule(new(StoreUsers)) }

// StoreUsers is the directory of users that the gateway keeps in its own store, the default.
// `caddy gatehouse user add` adds them.
type StoreUsers struct{}

// CaddyModule returns the Caddy module information.
func (*StoreUsers) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.directories.store", New: func() caddy.Module { return new(StoreUsers) }}
}

// UnmarshalCaddyfile sets up the directory from Caddyfile tokens:
//
//	users store
func (*StoreUsers) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the module's name
	if d.NextArg() {
		return d.Errf("users store: unexpected argument '%s', expected none", d.Val())
	}
	if d.NextBlock(0) {
		return d.Errf("users store: unrecognized word '%s', expected no block", d.Val())
	}
	return nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*StoreUsers)(nil)
