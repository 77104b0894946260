package admin

import (
	"context"
	"net/url"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/internal/watch"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/module/store"
)

// Config is what the API administers and the doctor examines: a running gateway.
type Config struct {
	Issuer *url.URL
	Server *authserver.Server

	Store     store.Backend
	OpenStore func(context.Context) (store.Backend, error) // the store itself, for its optional methods
	OwnSecret bool                                         // none is configured, so the store keeps one

	Ring        *keyring.Ring
	KeyAge      func() time.Duration // at which a signing key is replaced
	Revocations *revocationlist.List
	Verify      func(ctx context.Context, raw string) (*token.Access, error) // as guards do

	TokenCache func() token.CacheStats // of the tokens that Verify remembers

	Configured    map[string]*oauth.Client // the clients of the configuration, by id
	Stored        *clientstore.Clients
	Registrations int // the maximum number of clients that register themselves, 0 if none can

	Users   directory.Directory
	UsersIn string // the name of their directory, "" for the store

	OpenLimiter      func(context.Context) (ratelimit.OpenSource, error)
	LimiterMemory    func() (held ratelimit.Stats, ok bool) // ok is false if the counts are elsewhere
	LimitsFailClosed bool                                   // an api_limit refuses requests while the limiter is out of reach

	Decisions   *watch.Feed // of the handlers
	Tickets     *crossdevice.Tickets
	SharedPorts func() []string // addresses of ours on which another process listens, too
	Readiness   func(context.Context) adminapi.Readiness

	ChangedFiles func() []string // what the configuration was loaded from and has another content now

	ParseDuration func(string) (time.Duration, error) // days included
}
