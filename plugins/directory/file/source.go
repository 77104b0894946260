package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/currentlog"
	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/plugins/internal/words"
)

func init() {
	caddy.RegisterModule(new(Source))
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
// A changed file is read again within a second. Until the new users are there, the old ones
// serve and nobody waits. They stay as long as the changed file has a mistake, cannot be read or
// is larger than `max_size`; the log and `caddy gatehouse doctor` say why.
// Replace the file by renaming a new one over it and no moment shows half of it.
type Source struct {
	// The path of the file. A relative one begins at Caddy's working directory;
	// placeholders such as `{env.HOME}` are replaced. Required.
	Path string `json:"path,omitempty"`
	// The largest size of the file, in bytes. The users take about four times as much memory, and
	// ten times while the file is read again. Default: 32 MiB, some 150,000 users.
	MaxSize int64 `json:"max_size,omitempty"`

	mu     sync.Mutex
	loaded *current // what Validate has read, for Open
}

// CaddyModule returns the Caddy module information.
func (*Source) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "gatehouse.directories.file",
		New: func() caddy.Module { return new(Source) },
	}
}

// UnmarshalCaddyfile sets up the directory from Caddyfile tokens:
//
//	users file <path> {
//		max_size <size>
//	}
func (s *Source) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the module name
	if !d.AllArgs(&s.Path) {
		return d.Err("expected `file <path>`, the path of the users' JSON file and nothing else")
	}
	if s.Path == "" {
		return d.Err("the path of the users' file is empty")
	}
	return words.Block(d, "the file directory", map[string]words.Reader{"max_size": words.Size(&s.MaxSize)})
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
	if s.MaxSize < 0 {
		return fmt.Errorf("max_size of the users' file: invalid size '%d', expected a number of bytes above 0", s.MaxSize)
	}
	s.MaxSize = cmp.Or(s.MaxSize, defaultMaxSize)
	s.Path, err = filepath.Abs(path)
	return err
}

// Validate reads the file, so that a mistake in it fails `caddy validate` and a reload, and so that
// the first sign-in does not wait for it.
func (s *Source) Validate() error {
	c, err := s.load()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = c
	return err
}

// load reads the file for a directory that may outlive the configuration, and with it its logger.
func (s *Source) load() (*current, error) {
	return loadFile(s.Path, s.MaxSize, currentlog.Logger("gatehouse.directories.file"))
}

// Discard drops what Validate has read. The gateway calls it when another configuration has opened
// the directory already.
func (s *Source) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = nil
}

type identity struct {
	path    string
	maxSize int64
}

// Identity implements [directory.Source].
func (s *Source) Identity() any { return identity{s.Path, s.MaxSize} }

// Open implements [directory.Source]. A missing or mistaken file is an error.
func (s *Source) Open(context.Context) (directory.Directory, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.loaded
	s.loaded = nil
	if c == nil {
		var err error
		if c, err = s.load(); err != nil {
			return nil, err
		}
	} else if _, err := c.readAgain(); err != nil { // it may have changed since
		return nil, err
	}
	return openDirectory(c), nil
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Source)(nil)
	_ caddy.Validator       = (*Source)(nil)
	_ caddyfile.Unmarshaler = (*Source)(nil)
	_ directory.Source      = (*Source)(nil)
)
