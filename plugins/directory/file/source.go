package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/directory"
)

func init() {
	caddy.RegisterModule(Source{})
}

// Source is a user directory in a JSON file:
//
//	{"users": [{
//		"id": "u-1001", "username": "ann", "password_hash": "$argon2id$v=19$...",
//		"name": "Ann Example", "nickname": "Annie", "picture": "https://img.example/ann.png",
//		"email": "ann@example.com", "phone": "+1 555 0100", "locked": false,
//		"claims": {"department": "press"}
//	}]}
//
// `id`, `username` and `password_hash` are required. `id` is the stable subject of
// the user's tokens: printable ASCII of at most 255 characters, never beginning
// with `client:`. User names are compared in Unicode normal form C and letter by
// letter, so `Ann` does not sign in as `ann`; two names that differ in nothing but
// letter case are refused, since people would take one for the other.
// `password_hash` is what `caddy gatehouse user hash` prints (Argon2id, PHC form), or
// what another program made: bcrypt, PHP's `password_hash`, phpass, `crypt`, or the
// forms of LDAP and `htpasswd`.
// Everything else, an unknown field, a field given twice or `null`, is an error.
//
// A changed file is read again within a second of the next use. While the changed
// file has a mistake, the users that were read before stay, and the log says why.
// Replace the file by renaming a new one over it and no moment shows half of it.
type Source struct {
	// The path of the file. A relative one begins at Caddy's working directory;
	// placeholders such as `{env.HOME}` are replaced. Required.
	Path string `json:"path,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (Source) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "gatehouse.directories.file",
		New: func() caddy.Module { return new(Source) },
	}
}

// UnmarshalCaddyfile sets up the directory from Caddyfile tokens:
//
//	users file <path>
func (s *Source) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the module name
	if !d.AllArgs(&s.Path) {
		return d.Err("expected `file <path>`, the path of the users' JSON file and nothing else")
	}
	if s.Path == "" {
		return d.Err("the path of the users' file is empty")
	}
	if d.NextBlock(0) {
		return d.Errf("unrecognized word '%s': the file directory takes no block", d.Val())
	}
	return nil
}

// Provision makes the path absolute, so that two configurations which write it
// differently share one directory.
func (s *Source) Provision(caddy.Context) error {
	path, err := caddy.NewReplacer().ReplaceOrErr(s.Path, true, true)
	if err != nil {
		return fmt.Errorf("path of the users' file: %w", err)
	}
	if path == "" {
		return errors.New("path of the users' file: required")
	}
	s.Path, err = filepath.Abs(path)
	return err
}

// Validate reads the file, so that a mistake in it fails `caddy validate` and a
// reload instead of the first sign-in.
func (s *Source) Validate() error {
	f, err := readContents(s.Path)
	if err != nil {
		return err
	}
	_, err = parseUsers(s.Path, f.data)
	return err
}

type identity struct{ path string }

// Identity implements [directory.Source].
func (s *Source) Identity() any { return identity{s.Path} }

// Open implements [directory.Source]. A missing or mistaken file is an error.
func (s *Source) Open(context.Context) (directory.Directory, error) {
	// The directory may outlive the configuration, and with it its logger.
	d, err := openDirectory(s.Path, time.Now, func() *zap.Logger { return caddy.Log().Named("gatehouse.directories.file") })
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Source)(nil)
	_ caddy.Validator       = (*Source)(nil)
	_ caddyfile.Unmarshaler = (*Source)(nil)
	_ directory.Source      = (*Source)(nil)
)
