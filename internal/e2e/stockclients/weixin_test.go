package stockclients

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/markbates/goth/providers/wechat"
	"golang.org/x/oauth2"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const (
	portalSecret = "portal-secret-0123456789-0123456789-012345"
	portalClient = `client portal {
			name "Portal"
			secret ` + portalSecret + `
			variant_b
			redirect_uri http://127.0.0.1:$HOME/weixin
			redirect_uri http://127.0.0.1:$HOME/connect/wechat/callback
			scopes snsapi_login snsapi_userinfo
		}
		client stateless {
			secret ` + portalSecret + `
			variant_b
			redirect_uri http://127.0.0.1:$HOME/weixin
			scopes snsapi_userinfo
			require_state never
		}`
)

// weixin is a site with the stock library of somebody else: its own address, and the
// gateway it signs in with.
type weixin struct {
	*harness.Gateway
	port int
	home string
}

func beginWeixin(t *testing.T) *weixin {
	t.Helper()
	port := harness.FreePorts(t, 1)[0]
	g := &weixin{port: port, home: fmt.Sprintf("http://127.0.0.1:%d", port)}
	g.Gateway = harness.Prepare(t, "$HOME", fmt.Sprint(port))
	g.WriteFile(t, "users.json", strings.Replace(users, `"nickname":"Al"`, `"nickname":"张三 é"`, 1))
	g.Start(t, strings.Replace(site, "$CLIENTS", portalClient, 1))
	return g
}

var (
	shownID     = regexp.MustCompile(`/connect/qrcode/([\w-]{22})"`)
	shownNumber = regexp.MustCompile(`class="digits">([0-9]{2})<`)
)

// scan is a person with a browser and a phone, who is already signed in on neither: from
// the address with the code to the one that the browser comes back to.
func (g *weixin) scan(t *testing.T, address, decision string) *url.URL {
	t.Helper()
	browser, phone := harness.NewBrowser(t, g.ID), harness.NewBrowser(t, g.ID)
	page := browser.Get(address)
	id, number := shownID.FindStringSubmatch(page.Body), shownNumber.FindStringSubmatch(page.Body)
	if id == nil || number == nil {
		t.Fatalf("no page with a code: %d %.2000s", page.Status, page.Body)
	}
	p := phone.Get(g.ID + "/connect/confirm?uuid=" + id[1])
	p = phone.Submit(p, url.Values{"username": {username}, "password": {password}})
	p = phone.Get(p.URL.ResolveReference(p.Location(t)).String())
	p = phone.Submit(p, url.Values{"number": {number[1]}, "decision": {decision}})
	if p.Status != http.StatusOK {
		t.Fatalf("%s came to %d %.500s", decision, p.Status, p.Body)
	}
	// Without a script the page asks for itself again, and is sent on.
	p = browser.Get(g.ID + "/connect/qrconnect?uuid=" + id[1])
	return p.Location(t)
}

func TestGoWechatLibrarySignsInByScannedCode(t *testing.T) {
	g := beginWeixin(t)
	site := wechat.New("portal", portalSecret, g.home+"/weixin", wechat.WECHAT_LANG_CN)
	site.AuthURL, site.TokenURL, site.ProfileURL = g.ID+"/connect/qrconnect", g.ID+"/sns/oauth2/access_token", g.ID+"/sns/userinfo"
	const state = "a state & more"
	session, err := site.BeginAuth(state)
	if err != nil {
		t.Fatal(err)
	}
	address, err := session.GetAuthURL()
	if err != nil {
		t.Fatal(err)
	}
	back := g.scan(t, address, "confirm")
	if !strings.HasPrefix(back.String(), g.home+"/weixin?") || back.Query().Get("state") != state {
		t.Fatalf("the browser came back to %s", back)
	}
	if _, err := session.Authorize(site, back.Query()); err != nil {
		t.Fatal(err)
	}
	user, err := site.FetchUser(session)
	if err != nil {
		t.Fatal(err)
	}
	if user.NickName != "张三 é" || len(user.UserID) != 28 || user.AvatarURL != "https://pictures.example/alice.png" ||
		time.Until(user.ExpiresAt) < 119*time.Minute {
		t.Errorf("%+v", user)
	}
	if site.RefreshTokenAvailable() {
		t.Error("the library can refresh by now: that is to be tested")
	}
	guesser := wechat.New("portal", "wrong", g.home+"/weixin", wechat.WECHAT_LANG_CN)
	guesser.AuthURL, guesser.TokenURL, guesser.ProfileURL = site.AuthURL, site.TokenURL, site.ProfileURL
	again, _ := site.BeginAuth(state)
	if _, err := again.Authorize(guesser, back.Query()); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("with a wrong secret: %v", err)
	}
	if _, err := again.Authorize(site, back.Query()); err == nil || !strings.Contains(err.Error(), "400") {
		t.Errorf("the code was taken twice: %v", err)
	}
	if u, err := site.FetchUser(session); err == nil || !strings.Contains(err.Error(), "401") { // that killed what it gave
		t.Errorf("%+v %v", u, err)
	}
	if denied := g.scan(t, address, "deny"); denied.Query().Get("code") != "" || denied.Query().Get("error") != "access_denied" || denied.Query().Get("state") != state {
		t.Errorf("denied: %s", denied)
	}
}

func TestGoOAuth2LibrarySignsInWithAnAppID(t *testing.T) {
	g := beginWeixin(t)
	for name, style := range map[string]oauth2.AuthStyle{
		"found out": oauth2.AuthStyleAutoDetect, "in the header": oauth2.AuthStyleInHeader, "in the body": oauth2.AuthStyleInParams,
	} {
		t.Run(name, func(t *testing.T) {
			app := []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("appid", "portal")}
			c := oauth2.Config{
				ClientID: "portal", ClientSecret: portalSecret, RedirectURL: g.home + "/weixin", Scopes: []string{"snsapi_userinfo"},
				Endpoint: oauth2.Endpoint{AuthURL: g.ID + "/connect/oauth2/authorize", TokenURL: g.ID + "/sns/oauth2/access_token", AuthStyle: style},
			}
			state := oauth2.GenerateVerifier()
			back := harness.NewBrowser(t, g.ID).Authorize(c.AuthCodeURL(state, app...), username, password)
			if back.Query().Get("state") != state || back.Query().Get("iss") != "" {
				t.Fatalf("the browser came back to %s", back)
			}
			tok, err := c.Exchange(t.Context(), back.Query().Get("code"), append(app, oauth2.SetAuthURLParam("secret", portalSecret))...)
			if err != nil {
				t.Fatal(err)
			}
			openid, _ := tok.Extra("openid").(string)
			if left := time.Until(tok.Expiry); left < 119*time.Minute || left > 2*time.Hour || tok.RefreshToken == "" || len(openid) != 28 {
				t.Errorf("%+v for %v", tok, left)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.ID+"/sns/userinfo?openid="+openid, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := harness.Do(t, c.Client(t.Context(), tok), r) // the token is in the header
			var user struct {
				Nickname, Unionid string
				Sex               int
			}
			if err := json.Unmarshal([]byte(p.Body), &user); err != nil || p.Status != http.StatusOK || user.Nickname != "张三 é" || len(user.Unionid) != 28 {
				t.Errorf("%v: %d %s", err, p.Status, p.Body)
			}
			again := c
			again.Endpoint.TokenURL = g.ID + "/sns/oauth2/refresh_token?appid=portal"
			old := &oauth2.Token{RefreshToken: tok.RefreshToken}
			next, err := again.TokenSource(t.Context(), old).Token()
			if err != nil {
				t.Fatal("refreshing:", err)
			}
			if next.AccessToken == tok.AccessToken || next.RefreshToken != tok.RefreshToken || next.Extra("openid") != openid {
				t.Errorf("%+v after %+v", next, tok)
			}
			wantRefused := func(err error, status int, errcode string) {
				t.Helper()
				refused := (*oauth2.RetrieveError)(nil)
				if !errors.As(err, &refused) || refused.Response.StatusCode != status || !strings.Contains(string(refused.Body), `"errcode":`+errcode+",") {
					t.Errorf("got %v, want %d and %s", err, status, errcode)
				}
			}
			_, err = again.TokenSource(t.Context(), &oauth2.Token{RefreshToken: "x"}).Token()
			wantRefused(err, http.StatusBadRequest, "40030")
			_, err = c.Exchange(t.Context(), "x", append(app, oauth2.SetAuthURLParam("secret", "wrong"))...)
			wantRefused(err, http.StatusUnauthorized, "40125")
			_, err = c.Exchange(t.Context(), back.Query().Get("code"), append(app, oauth2.SetAuthURLParam("secret", portalSecret))...)
			wantRefused(err, http.StatusBadRequest, "40163")
			_, err = again.TokenSource(t.Context(), old).Token()
			wantRefused(err, http.StatusBadRequest, "40030")
		})
	}
	// The library repeats an exchange that failed with the same code: without appid in the
	// first place nothing was used up.
	c := oauth2.Config{
		ClientID: "portal", ClientSecret: portalSecret, RedirectURL: g.home + "/weixin", Scopes: []string{"snsapi_userinfo"},
		Endpoint: oauth2.Endpoint{AuthURL: g.ID + "/connect/oauth2/authorize", TokenURL: g.ID + "/sns/oauth2/access_token"},
	}
	app := oauth2.SetAuthURLParam("appid", "portal")
	code := harness.NewBrowser(t, g.ID).Authorize(c.AuthCodeURL("S", app), username, password).Query().Get("code")
	if _, err := c.Exchange(t.Context(), code, app); err == nil || !strings.Contains(err.Error(), "41004") {
		t.Errorf("without a secret: %v", err)
	}
	if _, err := c.Exchange(t.Context(), code, app, oauth2.SetAuthURLParam("secret", portalSecret)); err != nil {
		t.Error("afterwards:", err)
	}
}

func TestNodeWechatLibrariesSignIn(t *testing.T) {
	g := beginWeixin(t)
	out := harness.Node(t, time.Minute, "weixin.js", []string{
		"ISSUER=" + g.ID, "SECRET=" + portalSecret, "HOME=" + g.home, fmt.Sprint("HOME_PORT=", g.port),
		"WECHAT_ADDRESSES=" + strings.ReplaceAll(harness.PageLines(t, variantBPage, "Stock libraries", "js", 1), "https://id.example.com", g.ID),
	}, func(address string) string {
		switch u, err := url.Parse(address); {
		case err != nil:
			t.Error(err)
			return ""
		case u.Path == "/connect/oauth2/authorize":
			return harness.NewBrowser(t, g.ID).Authorize(address, username, password).String()
		case u.Query().Get("state") == "deny":
			return g.scan(t, address, "deny").String()
		}
		return g.scan(t, address, "confirm").String()
	})
	wantDone(t, out, "passport-weixin", "passport-wechat", "grant")
}
