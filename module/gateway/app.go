package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/currentlog"
	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/admission"
	"github.com/gatehouse/gatehouse/module/internal/audittrail"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/core"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/eventqueue"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/lazy"
	"github.com/gatehouse/gatehouse/module/internal/loadedfiles"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/internal/pool"
	"github.com/gatehouse/gatehouse/module/internal/servers"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/internal/watch"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/module/store"
)

func init() { caddy.RegisterModule(new(App)) }

// startTimeout is how long Start waits for the store.
const startTimeout = 10 * time.Second

// maxAttemptKeys bounds the memory for counting attempts, about 200 bytes for each key: it
// is the most of one kind, of which there are seven (users, addresses, clients, ...).
const maxAttemptKeys = 50_000

// perProcess is the key of pooled values that depend on no configuration.
type perProcess struct{}

// coreLogger returns a logger for a part of what outlives a configuration.
func coreLogger(part string) *slog.Logger { return currentlog.Slog(AppName + "." + part) }

// AppName is the app's module ID.
const AppName = "gatehouse"

// App is the configuration of the authorization server and what all handlers share. Plugins
// keep its state (namespace `gatehouse.stores`, type
// [github.com/gatehouse/gatehouse/module/store.Source]), its counts of requests (namespace
// `gatehouse.limiters`, type
// [github.com/gatehouse/gatehouse/module/ratelimit.Plugin]) and its users (namespace
// `gatehouse.directories`, type
// [github.com/gatehouse/gatehouse/module/directory.Source]).
type App struct {
	// The absolute URL of the authorization server, the `iss` of everything it issues.
	// Required. It must be https, except on a loopback address.
	Issuer string `json:"issuer,omitempty"`
	// What the pages call this server. Default: `Gatehouse`.
	Name string `json:"name,omitempty"`
	// Secrets of at least 32 bytes, for authentication and encryption: the first is used for
	// new values, all are accepted. They must be placeholders. Default: one that the store
	// creates and keeps.
	Secrets []string `json:"secrets,omitempty"`
	// Where state is kept. Default: `{"type": "bolt"}`.
	StoreRaw json.RawMessage `json:"store,omitempty" caddy:"namespace=gatehouse.stores inline_key=type"`
	// Where requests are counted. Default: `{"type": "memory"}`, each node for itself.
	LimiterRaw json.RawMessage `json:"limiter,omitempty" caddy:"namespace=gatehouse.limiters inline_key=type"`
	// Where users are kept. Default: `{"type": "store"}`, beside the other state, where
	// `caddy gatehouse user add` puts them.
	UsersRaw json.RawMessage `json:"users,omitempty" caddy:"namespace=gatehouse.directories inline_key=type"`
	// Lifetimes, algorithm and audience of tokens.
	Tokens Tokens `json:"tokens,omitzero"`
	// How long a browser stays signed in.
	Session Session `json:"session,omitzero"`
	// When authorization requests must carry `state`: `always`, or `unless_pkce_or_nonce`,
	// where a request with an S256 code_challenge, or with a nonce and scope openid, may omit
	// it; `with_pkce_optional` is the former name of that. Default: `always`, and
	// `unless_pkce_or_nonce` for clients that registered themselves. A client's own
	// `require_state` takes precedence.
	RequireState string `json:"require_state,omitempty"`
	// `public` (the default): public clients must use PKCE; `required`: all must.
	PKCE string `json:"pkce,omitempty"`
	// Permissions that clients may ask for, besides `openid`, `profile`, `email` and
	// `offline_access`. Default: none.
	Scopes []Scope `json:"scopes,omitempty"`
	// Applications that may ask for tokens. Default: those in the store alone, if any.
	Clients []Client `json:"clients,omitempty"`
	// Lets clients register themselves. Default: they cannot.
	Registration *Registration `json:"registration,omitempty"`
	// `on` (the default) or `off`: one line of the logger `gatehouse.audit`, and one Caddy
	// event, for each sign-in, issue, revocation and so on. A metric counts them in any case.
	Audit string `json:"audit,omitempty"`
	// How the pages look.
	Pages Pages `json:"pages,omitzero"`
	// Limits on guessing passwords and codes.
	Protect Protect `json:"protect,omitzero"`
	// How long guards use the last known revocations when the store's feed is lost, before
	// they answer 503. Default: `30s`.
	RevocationMaxStale caddy.Duration `json:"revocation_max_stale,omitempty"`
	// The most memory for access tokens that this node has verified, in bytes, from 2097152
	// (2 MiB) to 1 TiB. A token takes less than 400 bytes; beyond the maximum, requests with a
	// token that is not remembered verify its signature again. A reload applies another size
	// and keeps the tokens that fit. Default: 67108864 (64 MiB), or a sixteenth of the memory
	// limit of the Go runtime (`GOMEMLIMIT`, which Caddy sets from the container's limit) if
	// that is less.
	TokenCache int64 `json:"token_cache,omitempty"`
	// How many bytes are allocated at least before Go's garbage collector runs again, from
	// 1048576 (1 MiB) to 1 TiB; 0 leaves its pace to Go. By default Go collects whenever the
	// heap has doubled, which in a gateway that holds little is many times a second. Ignored if the
	// environment sets `GOGC`. Default: 100663296 (96 MiB), or an eighth of the memory limit of the
	// Go runtime (`GOMEMLIMIT`, which Caddy sets from the container's limit) if that is less.
	GCHeadroom *int64 `json:"gc_headroom,omitempty"`

	ctx         caddy.Context
	issuer      *url.URL
	loaded      loadedfiles.Files // what was read for this configuration
	held        pool.Holdings
	lease       *pool.Lease
	left        bool   // Cleanup has given the lease back
	endTending  func() // leaves the signing keys to other configurations
	endHeadroom func() // gives the pace of the garbage collector back
	core        *core.Core
	attempts    *lockout.Book
	forgeries   *atomic.Int64 // when forged tokens were last logged, in nanoseconds since the epoch
	ownResource *ownResource  // set for guards whose audience is the issuer
	limiter     *lazy.Limiter
	adjuster    adjuster // of the limiter; nil if it has nothing to adjust
	server      *authserver.Server
	shedder     *admission.Shedder
	tickets     *crossdevice.Tickets
	clients     *clientstore.Registry
	users       directory.Directory
	names       *handler.UserNames // of users, for requests to APIs
	usersIn     string             // the name of their directory, "" for the store
	log         *slog.Logger
	trail       *audittrail.Trail
	limitEvents *eventqueue.Queue
	decisions   *watch.Feed // shared by all configurations, so that a reload loses nothing
	attached    attached

	// limitsClose says that an api_limit refuses requests while the counts are out of reach. It is
	// set while the configuration is provisioned, and never later.
	limitsClose bool
	// limits has the policies of each api_limit; see [App.CountTogether].
	limits      [][]ratelimit.Counted
	placeLimits sync.Once
	servers     *servers.Servers
}

// CaddyModule returns the Caddy module information.
func (*App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: AppName, New: func() caddy.Module { return new(App) }}
}

// Provision builds everything and writes nothing and opens no connection: it runs for
// `caddy validate` too.
func (a *App) Provision(ctx caddy.Context) error {
	a.ctx, a.log = ctx, ctx.Slogger()
	repl := caddy.NewReplacer()
	var err error
	if a.issuer, err = ParseIssuer(a.Issuer, repl); err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	if err := metrics.Register(ctx.GetMetricsRegistry()); err != nil {
		return err
	}
	a.trail = audittrail.NewCounting()
	if a.Audit != "off" {
		if a.trail, err = audittrail.New(ctx, a.running); err != nil {
			return err
		}
	}
	if a.limitEvents, err = eventqueue.New(ctx, a.running, metrics.Set{}.LimitEventDropped(), LimitExceededEvent); err != nil {
		return err
	}
	a.loaded = make(loadedfiles.Files)
	if err := a.loaded.AddPlaceholders(a); err != nil {
		return err
	}
	secrets, err := resolveSecrets(a.Secrets, repl)
	if err != nil {
		return err
	}
	users, err := a.holdShared(ctx, secrets)
	if err == nil {
		err = a.buildServer(users, repl)
	}
	if err != nil {
		return err
	}
	a.lease = a.held.Lease()
	return nil
}

// holdShared loads the plugins and holds what they and other configurations share.
func (a *App) holdShared(ctx caddy.Context, secrets [][]byte) (directory.Directory, error) {
	source, err := a.loadStore(ctx)
	if err != nil {
		return nil, err
	}
	id := source.Identity()
	opened, err := pool.Hold(&a.held, id, func() (*lazy.Store, error) { return lazy.NewStore(source), nil })
	if err != nil {
		return nil, err
	}
	key := core.Key{Store: id, Secrets: digestSecrets(secrets), MaxStale: time.Duration(a.RevocationMaxStale)}
	a.core, err = pool.Hold(&a.held, key, func() (*core.Core, error) { return core.New(opened, secrets, key, coreLogger) })
	if err != nil {
		return nil, err
	}
	a.forgeries, a.ownResource = new(atomic.Int64), new(ownResource)
	a.attempts, err = pool.Hold(&a.held, perProcess{}, func() (*lockout.Book, error) {
		return lockout.NewBook(maxAttemptKeys, time.Now), nil
	})
	if err != nil {
		return nil, err
	}
	a.shedder, err = pool.Hold(&a.held, perProcess{}, func() (*admission.Shedder, error) {
		return admission.NewShedder(coreLogger("overload")), nil
	})
	if err != nil {
		return nil, err
	}
	a.decisions, err = pool.Hold(&a.held, perProcess{}, func() (*watch.Feed, error) { return watch.NewFeed(), nil })
	if err != nil {
		return nil, err
	}
	if a.limiter, err = a.loadLimiter(ctx, source); err != nil {
		return nil, err
	}
	return a.loadUsers(ctx)
}

// buildServer makes the authorization server of this configuration.
func (a *App) buildServer(users directory.Directory, repl *caddy.Replacer) error {
	if err := a.loadClients(repl); err != nil {
		return err
	}
	a.users, a.names = users, handler.NewUserNames(users)
	a.warnOfClients(time.Now())
	pages, err := webui.New(webui.Config{
		Name: a.Name, Languages: a.Pages.Languages, Templates: a.Pages.Templates,
		Logo: a.Pages.Logo, Wordmark: a.Pages.Wordmark, Color: a.Pages.Color, ColorDark: a.Pages.ColorDark,
		Links: webui.Links(a.Pages.Links), LanguagePath: strings.TrimSuffix(a.issuer.Path, "/") + authserver.LanguagePath, HTTPS: a.issuer.Scheme == "https", Log: a.log,
	})
	if err != nil {
		return err
	}
	// All algorithms, because clients that are added to the store may use any.
	issuer, err := token.NewIssuer(token.IssuerConfig{
		Ring: a.core.Ring, Issuer: a.issuer.String(), Alg: a.Tokens.Algorithm, IDAlgs: oauth.IDTokenAlgs,
	})
	if err != nil {
		return err
	}
	a.core.KeepFor(a.Tokens.longestLife())
	if a.tickets, err = crossdevice.New(crossdevice.Config{
		Store: a.core.Store,
		Count: func(kind store.TicketKind, outcome string) { metrics.Set{}.Ticket(string(kind), outcome) },
	}); err != nil {
		return err
	}
	a.servers = servers.New(a.log, a.tickets.Close)
	registration, err := a.Registration.build(repl)
	if err != nil {
		return err
	}
	var scopes []authserver.Scope
	for _, s := range a.Scopes {
		scopes = append(scopes, authserver.Scope(s))
	}
	stateRule, _ := oauth.NamedStateRule(a.RequireState) // check refuses unknown ones
	a.server, err = authserver.New(authserver.Config{
		Issuer: a.issuer, Clients: a.clients, Scopes: scopes, Directory: users,
		Registration: registration, Registrar: a.clients.Stored,
		Store: a.core.Store, Keys: a.core.Keys, Tokens: issuer, Revocations: a.core.Revocations,
		Verifier: a.Verifier(), Issued: a.core,
		Pages: pages, Metrics: metrics.Set{}, Log: a.log, Lifetimes: lifetimes(a.Tokens, a.Session), TokenLife: a.core.TokenLife, Attempts: a.attempts,
		GrantsPerUser: a.Tokens.GrantsPerUser, Sweep: a.core.Sweeper.Wake,
		Audit:        a.trail,
		CrossDevice:  a.tickets,
		Audience:     a.audience(),
		RequireState: stateRule,
		PKCERequired: a.PKCE == "required",
		Protect: authserver.Protect{
			LoginFailures: a.Protect.LoginFailures, Lockout: time.Duration(a.Protect.Lockout),
			PerAddress: a.Protect.PerAddress, CodesPerUser: a.Protect.CodesPerUser, HashConcurrency: a.Protect.HashConcurrency,
		},
		ClientIP: handler.ClientIP, RequestID: handler.RequestID, FullDuplex: handler.IsFullDuplex,
	})
	return err
}

// Start opens the store, so that a gateway that cannot keep state fails at once. Requests may
// come before, and open what they need themselves.
func (a *App) Start() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := a.core.Warm(ctx); err != nil {
		return fmt.Errorf("opening the store: %w", err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), startTimeout) // loading may have taken longer
	defer cancel()
	// An unreachable server is no error here: on_outage says what happens then.
	if _, err := a.limiter.Source(ctx); err != nil {
		return fmt.Errorf("opening the limiter: %w", err)
	}
	a.endHeadroom = beginHeadroom(a.GCHeadroom, a.log)
	a.servers.WarnOfSharedPorts()
	a.trail.Start()
	a.limitEvents.Start()
	a.endTending = a.core.Tending.Begin(a.Tokens.keyAge(), a.trail)
	go applyInForce(a)
	return nil
}

// Stop ends pending polls, which clients repeat under the next configuration. Other requests of
// this one may still be running. When the process ends, requests may go on for shutdown_delay,
// and the servers end the polls when they shut down.
func (a *App) Stop() error {
	if !caddy.Exiting() {
		a.tickets.Close()
	}
	a.attached.stop()
	return nil
}

// Cleanup gives back what Provision holds, also after it failed; requests still in
// flight keep theirs.
func (a *App) Cleanup() error {
	if a.endTending != nil {
		a.endTending()
	}
	if a.endHeadroom != nil {
		a.endHeadroom()
	}
	if a.tickets != nil {
		a.tickets.Close()
	}
	// The lease stays set: requests that a slow handler in front held up still enter it.
	if a.lease != nil && !a.left {
		a.left = true
		a.lease.Leave()
	}
	a.held.GiveBack()
	return nil
}

func (a *App) audience() []string {
	if len(a.Tokens.Audience) > 0 {
		return a.Tokens.Audience
	}
	return []string{a.issuer.String()}
}

func lifetimes(t Tokens, s Session) authserver.Lifetimes {
	l := authserver.Lifetimes{
		Code: time.Duration(t.Code), Access: t.accessLife(), VariantB: t.variantBLife(),
		Refresh: time.Duration(t.Refresh), RefreshIdle: time.Duration(t.RefreshIdle),
		RefreshGrace: 10 * time.Second,
		Session:      time.Duration(s.Absolute), SessionIdle: time.Duration(s.Idle),
	}
	if t.RefreshGrace != nil {
		l.RefreshGrace = time.Duration(*t.RefreshGrace)
	}
	return l
}

// Interface guards
var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
)
