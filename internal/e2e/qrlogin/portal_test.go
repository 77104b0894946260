package qrlogin

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	portalSecret = "portal-secret-0123456789-0123456789-0123"
	portalState  = "s+t/a&t=e %2B é-" // comes back letter for letter
)

// portal is a site that signs its users in with Variant B, as https://portal.test, and
// as https://other.test one that nobody knows.
type portal struct {
	t      *testing.T
	server *httptest.Server
	port   string
	issuer string
	client http.Client

	deviceCode string // that was given out last

	mu     sync.Mutex
	states map[string]bool
}

func newPortal(t *testing.T) *portal {
	t.Helper()
	p := &portal{t: t, states: map[string]bool{}}
	p.client.Transport = &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the issuer's certificate is its own
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			_, port, _ := net.SplitHostPort(address)
			return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
		},
	}
	p.server = httptest.NewTLSServer(p)
	t.Cleanup(func() { p.client.CloseIdleConnections(); p.server.Close() })
	u, err := url.Parse(p.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	p.port = u.Port()
	return p
}

func (p *portal) at(host string) string { return "https://" + host + ".test:" + p.port }

func (p *portal) begin() url.Values {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := portalState + strconv.Itoa(len(p.states))
	p.states[state] = false
	return url.Values{
		"appid": {"portal"}, "redirect_uri": {p.at("portal") + "/callback"}, "response_type": {"code"},
		"scope": {"snsapi_login,snsapi_userinfo"}, "state": {state},
	}
}

// used takes a state that was given out, once.
func (p *portal) used(state string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	used, known := p.states[state]
	p.states[state] = true
	return known && !used
}

var (
	portalPage = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Portal</title>
<link rel="icon" href="data:,"><h1>{{.}}</h1>`))
	framedPage = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><title>Portal</title><link rel="icon" href="data:,"><h1>Portal</h1>
<div id="login"></div><script src="{{.Issuer}}/connect/login.js"></script><script>new GatehouseLogin({{.Options}})</script>`))
	framedPlainly = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><title>Portal</title><link rel="icon" href="data:,"><h1>Portal</h1>
<iframe title="Sign in" width="300" height="440" src="{{.}}"></iframe>`))
)

func (p *portal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch r.URL.Path {
	case "/":
		c, err := r.Cookie("who")
		if err != nil {
			p.show(w, "Not signed in")
			return
		}
		p.show(w, "Signed in as "+c.Value+" of Portal")
	case "/login":
		http.Redirect(w, r, p.issuer+"/connect/qrconnect?"+p.begin().Encode()+"#wechat_redirect", http.StatusFound)
	case "/framed":
		asked := p.begin()
		options := map[string]any{"id": "login"}
		for _, name := range []string{"appid", "redirect_uri", "scope", "state"} {
			options[name] = asked.Get(name)
		}
		for name := range q {
			options[name] = q.Get(name)
		}
		if q.Get("style") != "" { // existing sites encode it themselves
			options["redirect_uri"] = url.QueryEscape(asked.Get("redirect_uri"))
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		p.check(framedPage.Execute(w, map[string]any{"Issuer": p.issuer, "Options": options}))
	case "/framed-plainly":
		asked := p.begin()
		asked.Set("login_type", "jssdk")
		p.check(framedPlainly.Execute(w, p.issuer+"/connect/qrconnect?"+asked.Encode()))
	case "/framed-confirm":
		p.check(framedPlainly.Execute(w, p.issuer+"/connect/confirm?uuid=AAAAAAAAAAAAAAAAAAAAAA"))
	case "/callback":
		p.callback(w, r, q)
	default:
		http.NotFound(w, r)
	}
}

func (p *portal) callback(w http.ResponseWriter, r *http.Request, q url.Values) {
	switch {
	case !p.used(q.Get("state")):
		p.show(w, "Not signed in: the state is not ours or was used")
		return
	case q.Get("error") != "":
		p.show(w, "Not signed in: "+q.Get("error"))
		return
	}
	name, err := p.exchange(r.Context(), q.Get("code"))
	if err != nil {
		p.t.Errorf("exchanging the code: %v", err)
		p.show(w, "Not signed in: the code is worth nothing")
		return
	}
	if r.Header.Get("Sec-Fetch-Dest") == "iframe" {
		p.show(w, "Signed in as "+name+" of Portal")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "who", Value: name, Path: "/", Secure: true, HttpOnly: true})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// exchange redeems a code and returns the user's nickname.
func (p *portal) exchange(ctx context.Context, code string) (string, error) {
	var tokens struct{ Access_token, Openid string }
	err := p.ask(ctx, "/sns/oauth2/access_token", url.Values{"appid": {"portal"}, "secret": {portalSecret}, "code": {code}, "grant_type": {"authorization_code"}}, &tokens)
	if err != nil {
		return "", err
	}
	var user struct{ Openid, Nickname string }
	err = p.ask(ctx, "/sns/userinfo", url.Values{"access_token": {tokens.Access_token}, "openid": {tokens.Openid}}, &user)
	if err == nil && (user.Openid != tokens.Openid || user.Openid == "") {
		err = fmt.Errorf("openid %q became %q", tokens.Openid, user.Openid)
	}
	return user.Nickname, err
}

func (p *portal) ask(ctx context.Context, path string, q url.Values, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.issuer+path+"?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	res, err := p.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %d %s", path, res.StatusCode, strings.TrimSpace(string(body)))
	}
	return json.Unmarshal(body, into)
}

func (p *portal) show(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	p.check(portalPage.Execute(w, text))
}

func (p *portal) check(err error) {
	if err != nil {
		p.t.Log(err) // the browser has gone
	}
}
