package app

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/gatehouse/gatehouse/examples/internal/browser"
)

// Config of the application. Issuer, API, Self, ClientID and ClientSecret are required.
type Config struct {
	// Issuer is the authorization server, API the guarded API and Self the address
	// at which browsers reach this application: URLs without a slash at the end.
	Issuer, API, Self string

	ClientID, ClientSecret string

	// Scopes to ask for. Default: openid, profile and articles:read. Without openid the
	// user's id is shown instead of the name.
	Scopes []string
	// Sessions is the most browsers that are known at once. Default: 1000.
	Sessions int
	// Now is the clock of the sessions. Default: time.Now.
	Now func() time.Time
}

// App is the application. It is safe for concurrent use.
type App struct {
	issuer   string
	oauth    oauth2.Config
	api      api
	userinfo api // of the issuer, for the user's name; no client without openid
	sessions *browser.Sessions[oauth2.TokenSource]
	handler  http.Handler
}

// New checks the configuration; it contacts nobody.
func New(c Config) (*App, error) {
	issuer, err := browser.Origin("issuer", c.Issuer)
	_, apiErr := browser.Origin("API", c.API)
	_, selfErr := browser.Origin("own address", c.Self)
	if err := cmp.Or(err, apiErr, selfErr); err != nil {
		return nil, err
	}
	if c.ClientID == "" || c.ClientSecret == "" {
		return nil, errors.New("the client needs an id and a secret")
	}
	if c.Scopes == nil {
		c.Scopes = []string{"openid", "profile", "articles:read"}
	}
	a := &App{
		issuer: c.Issuer,
		oauth: oauth2.Config{
			ClientID: c.ClientID, ClientSecret: c.ClientSecret, Scopes: c.Scopes, RedirectURL: c.Self + "/callback",
			Endpoint: oauth2.Endpoint{AuthURL: c.Issuer + "/authorize", TokenURL: c.Issuer + "/token", AuthStyle: oauth2.AuthStyleInHeader},
		},
		api:      api{base: c.API, client: client()},
		sessions: browser.NewSessions[oauth2.TokenSource](cookieName, strings.HasPrefix(c.Self, "https:"), c.Sessions, c.Now),
	}
	if slices.Contains(c.Scopes, "openid") {
		a.userinfo = api{base: c.Issuer, client: a.api.client}
	}
	a.handler = browser.Site(map[string]http.HandlerFunc{
		"GET /{$}": a.home, "GET /login": a.login, "GET /callback": a.callback, "POST /logout": a.logout,
	}, styleText, issuer, "")
	return a, nil
}

func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// client makes the requests to issuer and API: neither redirects, and following one
// would take the secret or the token somewhere else.
func client() *http.Client {
	return &http.Client{
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
