package app

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/markbates/goth/providers/wechat"

	"github.com/gatehouse/gatehouse/examples/internal/browser"
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
	sessions *browser.Sessions[visitor]
	handler  http.Handler
}

// New checks the configuration; it contacts nobody.
func New(c Config) (*App, error) {
	open, err := browser.Origin("address", c.Open)
	_, apiErr := browser.Origin("address", c.API)
	_, selfErr := browser.Origin("address", c.Self)
	if err := cmp.Or(err, apiErr, selfErr); err != nil {
		return nil, err
	}
	if c.AppID == "" || c.Secret == "" {
		return nil, errors.New("the site needs an appid and a secret")
	}
	a := &App{
		wechat:   library(c),
		sessions: browser.NewSessions[visitor](cookieName, strings.HasPrefix(c.Self, "https:"), c.Sessions, c.Now),
	}
	// Pictures come from where people keep them.
	a.handler = browser.Site(map[string]http.HandlerFunc{
		"GET /{$}": a.home, "GET /login": a.login, "GET /wx": a.callback, "POST /logout": a.logout,
	}, styleText, open, "img-src https: "+open+"; ")
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

func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }
