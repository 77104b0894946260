package http

import (
	"context"
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/plugins/internal/remote"
)

func init() {
	caddy.RegisterModule(Source{})
}

// Source is a user directory behind an HTTP endpoint that an older login page or program uses: user name and password
// are sent there by POST, and its answer in JSON says who the user is. A status that is neither among `ok` nor among
// `refused` is an error, as is an answer that cannot be read, a redirect, or none in time: then nobody can sign in,
// and the answer is 503.
//
// When users refresh their tokens they are looked up at `lookup`. Without that address the gateway cannot learn that a
// user was deleted or locked after signing in: it uses the record of the last sign-in as long as this process
// remembers it, and the ID alone afterwards. Grants then end when their refresh tokens do, or when an administrator
// ends them; choose `refresh` in `tokens` accordingly.
type Source struct {
	// The login endpoint, https, or http on a loopback address. Required.
	URL string `json:"url,omitempty"`
	// How name and password are sent: `form` (the default) or `json`, an object.
	As string `json:"as,omitempty"`
	// The parameter that has the user name. Default: `username`.
	UsernameField string `json:"username_field,omitempty"`
	// The parameter that has the password. Default: `password`.
	PasswordField string `json:"password_field,omitempty"`
	// The address that tells about one user by GET; `{id}` stands for the ID. 404 and 410
	// mean that there is no such user. Default: none; a refresh then
	// relies on the last sign-in.
	Lookup string `json:"lookup,omitempty"`
	// Where answers say what is known of a user, as JSON pointers (RFC 6901): `id` (default `/id`), the stable
	// subject of tokens, printable ASCII of at most 255 characters; `username` (default `/username`; what was typed
	// if the answer has none), `name`, `nickname`, `email`, `phone`, `picture` and `locked` (none).
	Fields map[string]string `json:"fields,omitempty"`
	// Further claims about the user, as JSON pointers. Default: none.
	Claims map[string]string `json:"claims,omitempty"`
	// Statuses of an answer about a user. Default: 200.
	OK []int `json:"ok,omitempty"`
	// Statuses that mean a wrong name or password. Default: 401 and 403.
	Refused []int `json:"refused,omitempty"`
	// For endpoints that answer 200 whatever happens: where such an answer says that name and password are
	// right.
	OKWhen *Condition `json:"ok_when,omitempty"`
	// For endpoints that answer 200 whatever happens: where such an answer says that name or password is
	// wrong, or that there is no such user.
	RefusedWhen *Condition `json:"refused_when,omitempty"`
	// Where a refusal says whose name it was, as a JSON pointer to the same `id` that a success has. Wrong passwords
	// are then counted for that user whatever spelling of the name was used. Absent or null for an unknown name; a
	// fixed value such as 0 would lock everybody at once. Default: refusals say nothing, and each spelling has a
	// count of its own until its first successful sign-in.
	RefusedID string `json:"refused_id,omitempty"`
	// Further headers of each request. Values are best given as placeholders such as `{env.LEGACY_KEY}`.
	// Default: none.
	Headers map[string]string `json:"headers,omitempty"`
	// A file with the certificates (PEM) to trust instead of the system's. Excludes `tls`. Default: the system's.
	CA string `json:"ca,omitempty"`
	// Which certificates to trust, from one of Caddy's modules. Default: the system's.
	TLS *remote.TLS `json:"tls,omitempty"`
	// How long one answer may take. Default: `3s`.
	Timeout caddy.Duration `json:"timeout,omitempty"`
	// The longest answer that is read, in bytes, at most 1 MiB. Default: 64 KiB.
	MaxBody int `json:"max_body,omitempty"`

	trusted  string // what TLS.TrustPool has, in PEM form
	settings *settings
}

// Condition is fulfilled when the value at the pointer, written as text, is one of these.
type Condition struct {
	// JSON Pointer to a value of the response. Required.
	Pointer string `json:"pointer"`
	// The texts of which the value must be one. Required.
	Values []string `json:"values"`
}

// CaddyModule returns the Caddy module information.
func (Source) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.directories.http", New: func() caddy.Module { return new(Source) }}
}

// Provision checks everything and resolves placeholders. It touches no network.
func (s *Source) Provision(ctx caddy.Context) error {
	var err error
	if s.trusted, err = s.TLS.Load(ctx, s.CA); err != nil {
		return fmt.Errorf("the HTTP directory: %w", err)
	}
	if s.settings, err = s.resolveSettings(caddy.NewReplacer()); err != nil {
		return fmt.Errorf("the HTTP directory: %w", err)
	}
	if s.settings.lookup == nil {
		ctx.Logger().Warn("the HTTP directory has no lookup address: users who are deleted or locked there keep what they granted until it ends by itself")
	}
	return nil
}

// Identity implements [directory.Source].
func (s *Source) Identity() any { return s.settings.identity }

// Open implements [directory.Source]. It connects nowhere: the first sign-in does.
func (s *Source) Open(context.Context) (directory.Directory, error) {
	return openDirectory(s.settings), nil
}

// Interface guards
var (
	_ caddy.Provisioner = (*Source)(nil)
	_ directory.Source  = (*Source)(nil)
)
