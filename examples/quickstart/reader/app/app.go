package app

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
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
	secure   bool
	oauth    oauth2.Config
	api      api
	userinfo api // of the issuer, for the user's name; no client without openid
	sessions *sessions
	headers  map[string]string
	handler  http.Handler
}

// New checks the configuration; it contacts nobody.
func New(c Config) (*App, error) {
	var origins [3]string
	for i, at := range []struct{ name, url string }{{"issuer", c.Issuer}, {"API", c.API}, {"own address", c.Self}} {
		u, err := url.Parse(at.url)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(at.url, "/") {
			return nil, fmt.Errorf("the %s %q must be an http or https URL without a slash at its end", at.name, at.url)
		}
		origins[i] = u.Scheme + "://" + u.Host
	}
	if c.ClientID == "" || c.ClientSecret == "" {
		return nil, errors.New("the client needs an id and a secret")
	}
	if c.Scopes == nil {
		c.Scopes = []string{"openid", "profile", "articles:read"}
	}
	if c.Sessions == 0 {
		c.Sessions = 1000
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	a := &App{
		issuer: c.Issuer,
		secure: strings.HasPrefix(c.Self, "https:"),
		oauth: oauth2.Config{
			ClientID: c.ClientID, ClientSecret: c.ClientSecret, Scopes: c.Scopes, RedirectURL: c.Self + "/callback",
			Endpoint: oauth2.Endpoint{AuthURL: c.Issuer + "/authorize", TokenURL: c.Issuer + "/token", AuthStyle: oauth2.AuthStyleInHeader},
		},
		api:      api{base: c.API, client: client()},
		sessions: newSessions(c.Sessions, c.Now),
		headers: map[string]string{
			"Cache-Control":          "no-store",
			"X-Content-Type-Options": "nosniff",
			"Referrer-Policy":        "same-origin", // the address of /callback has a code in it
			// Browsers hold a form's redirects to form-action as well: /login leads to the issuer.
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self' " + origins[0] + "; base-uri 'none'; frame-ancestors 'none'",
		},
	}
	if slices.Contains(c.Scopes, "openid") {
		a.userinfo = api{base: c.Issuer, client: a.api.client}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", a.home)
	mux.HandleFunc("GET /login", a.login)
	mux.HandleFunc("GET /callback", a.callback)
	mux.HandleFunc("POST /logout", a.logout)
	mux.HandleFunc("GET /style.css", style)
	// Without it another site could sign a visitor out.
	a.handler = http.NewCrossOriginProtection().Handler(mux)
	return a, nil
}

func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range a.headers {
		w.Header().Set(name, value)
	}
	a.handler.ServeHTTP(w, r)
}

// client makes the requests to issuer and API: neither redirects, and following one
// would take the secret or the token somewhere else.
func client() *http.Client {
	return &http.Client{
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
