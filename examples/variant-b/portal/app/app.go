package app

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/markbates/goth/providers/wechat"
)

// Config of the site. All but Sessions and Now are required.
type Config struct {
	// Open and API take the place of https://open.weixin.qq.com and
	// https://api.weixin.qq.com, Self is the address at which browsers reach this site:
	// URLs without a slash at the end.
	Open, API, Self string

	AppID, Secret string

	// Sessions is the most browsers that are known at once. Default: 1000.
	Sessions int
	// Now is the clock of the sessions. Default: time.Now.
	Now func() time.Time
}

// App is the site. It is safe for concurrent use.
type App struct {
	wechat   *wechat.Provider
	secure   bool
	sessions *sessions
	headers  map[string]string
	handler  http.Handler
}

// New checks the configuration; it contacts nobody.
func New(c Config) (*App, error) {
	var origins [3]string
	for i, at := range []string{c.Open, c.API, c.Self} {
		u, err := url.Parse(at)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(at, "/") {
			return nil, fmt.Errorf("the address %q must be an http or https URL without a slash at its end", at)
		}
		origins[i] = u.Scheme + "://" + u.Host
	}
	if c.AppID == "" || c.Secret == "" {
		return nil, errors.New("the site needs an appid and a secret")
	}
	if c.Sessions == 0 {
		c.Sessions = 1000
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	a := &App{
		wechat:   library(c),
		secure:   strings.HasPrefix(c.Self, "https:"),
		sessions: newSessions(c.Sessions, c.Now),
		headers: map[string]string{
			"Cache-Control":          "no-store",
			"X-Content-Type-Options": "nosniff",
			"Referrer-Policy":        "same-origin", // the address of /wx has a code in it
			// Browsers hold a form's redirects to form-action as well: /login leads to Open.
			// Pictures come from where people keep them.
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src https: " + origins[0] +
				"; form-action 'self' " + origins[0] + "; base-uri 'none'; frame-ancestors 'none'",
		},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", a.home)
	mux.HandleFunc("GET /login", a.login)
	mux.HandleFunc("GET /wx", a.callback)
	mux.HandleFunc("POST /logout", a.logout)
	mux.HandleFunc("GET /style.css", style)
	// Without it another site could sign a visitor out.
	a.handler = http.NewCrossOriginProtection().Handler(mux)
	return a, nil
}

// library is goth's provider for WeChat with other host names in front of its paths.
func library(c Config) *wechat.Provider {
	p := wechat.New(c.AppID, c.Secret, c.Self+"/wx", wechat.WECHAT_LANG_EN)
	p.AuthURL = c.Open + "/connect/qrconnect"
	p.TokenURL = c.API + "/sns/oauth2/access_token"
	p.ProfileURL = c.API + "/sns/userinfo"
	return p
}

func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range a.headers {
		w.Header().Set(name, value)
	}
	a.handler.ServeHTTP(w, r)
}
