package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// The sites of Variant B: portal and kiosk are of one owner, shop of none, base may not
// ask who the user is.
const (
	portalSecret = "portal-secret-0123456789-0123456789-012345"
	kioskSecret  = "kiosk-secret-0123456789-0123456789-0123456"
	shopSecret   = "shop-secret-0123456789-0123456789-01234567"
	snsCallback  = "https://portal.example/wx"
)

const snsClients = `client portal {
			name "Portal"
			owner acme
			secret ` + portalSecret + `
			variant_b
			redirect_uri https://portal.example/wx
			redirect_uri https://portal.example/wx?next=1
			scopes snsapi_login snsapi_userinfo snsapi_base read
		}
		client kiosk {
			owner acme
			secret ` + kioskSecret + `
			variant_b
			redirect_uri https://portal.example/wx
			scopes snsapi_userinfo snsapi_base
			userinfo_content_type text
		}
		client shop {
			secret ` + shopSecret + `
			variant_b
			redirect_uri https://portal.example/wx
			scopes snsapi_userinfo
			userinfo_content_type json
		}`

var snsSecrets = map[string]string{"portal": portalSecret, "kiosk": kioskSecret, "shop": shopSecret}

// snsUsers has alice with all that a profile says, and bob with a user name alone.
const snsUsers = `{"users":[
{"id":"u-1","username":"alice","name":"Alice Liddell","nickname":"张 é <Al>","picture":"https://pictures.example/a.png?s=1&t=2",
 "claims":{"gender":"female","address":{"region":"Oxfordshire","locality":"Oxford","country":"GB","street_address":"Christ Church"}},
 "password_hash":"` + harness.PasswordHash + `"},
{"id":"u-2","username":"bob","password_hash":"` + harness.PasswordHash + `"}
]}`

// startSNS loads the site with them, on the store that can fail.
func startSNS(t *testing.T, more ...string) (*harness.Gateway, *harness.Upstream, *storetest.Memory) {
	t.Helper()
	return startFaulty(t, append([]string{"$GLOBAL", snsClients}, more...)...)
}

// snsCode signs somebody in at a site, in one browser, and returns the code.
func snsCode(t *testing.T, g *harness.Gateway, who, client string, changes ...string) string {
	t.Helper()
	q := url.Values{
		"appid": {client}, "redirect_uri": {snsCallback}, "response_type": {"code"}, "scope": {"snsapi_userinfo"}, "state": {"S"},
	}
	for i := 0; i+1 < len(changes); i += 2 {
		q.Set(changes[i], changes[i+1])
	}
	back := harness.NewBrowser(t, g.ID).Authorize(g.ID+"/connect/oauth2/authorize?"+q.Encode(), who, password)
	code := back.Query().Get("code")
	if code == "" || back.Query().Get("state") != "S" || !strings.HasPrefix(back.String(), snsCallback+"?") {
		t.Fatalf("the browser came back to %s", back)
	}
	return code
}

// snsExchange are the parameters that redeem a code.
func snsExchange(client, code string) url.Values {
	return url.Values{"appid": {client}, "secret": {snsSecrets[client]}, "code": {code}, "grant_type": {"authorization_code"}}
}

func snsRefresh(client, token string) url.Values {
	return url.Values{"appid": {client}, "grant_type": {"refresh_token"}, "refresh_token": {token}}
}

// snsGet sends the parameters as most libraries do, from an address of its own.
func snsGet(t *testing.T, g *harness.Gateway, path string, q url.Values, header ...string) harness.Page {
	t.Helper()
	return harness.Send(t, http.DefaultClient, http.MethodGet, g.ID+"/sns/"+path+"?"+q.Encode(), "",
		append([]string{"X-Forwarded-For", somebody()}, header...)...)
}

// snsPost sends them as a form.
func snsPost(t *testing.T, g *harness.Gateway, path string, form url.Values, header ...string) harness.Page {
	t.Helper()
	return harness.Send(t, http.DefaultClient, http.MethodPost, g.ID+"/sns/"+path, form.Encode(),
		append([]string{"X-Forwarded-For", somebody()}, header...)...)
}

// snsTokens is what a site was given.
type snsTokens struct {
	access, refresh, openid, unionid, scope string
	life                                    float64
}

func wantSNSHeader(t *testing.T, p harness.Page, kind string) {
	t.Helper()
	h := p.Header
	if got := h.Values("Content-Type"); len(got) != 1 || got[0] != kind {
		t.Errorf("Content-Type %q, want exactly %s", got, kind)
	}
	if h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v", h)
	}
}

// wantSNSTokens is a success of either token endpoint.
func wantSNSTokens(t *testing.T, p harness.Page) (v snsTokens) {
	t.Helper()
	wantSNSHeader(t, p, "application/json")
	if p.Status != http.StatusOK {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	m := p.JSON(t)
	text := func(name string) string {
		s, ok := m[name].(string)
		if !ok || s == "" {
			t.Fatalf("no %s in %s", name, p.Body)
		}
		return s
	}
	v = snsTokens{text("access_token"), text("refresh_token"), text("openid"), text("unionid"), text("scope"), 0}
	v.life, _ = m["expires_in"].(float64)
	if len(m) != 6 || v.life == 0 || len(v.access) > 1<<10 {
		t.Errorf("%d bytes of token in %s", len(v.access), p.Body)
	}
	return v
}

// snsSignIn is a whole sign-in at a site.
func snsSignIn(t *testing.T, g *harness.Gateway, who, client string, changes ...string) snsTokens {
	t.Helper()
	return wantSNSTokens(t, snsGet(t, g, "oauth2/access_token", snsExchange(client, snsCode(t, g, who, client, changes...))))
}

func (v snsTokens) asks() url.Values {
	return url.Values{"access_token": {v.access}, "openid": {v.openid}}
}

// wantSNS is a failure: the status and both bodies, and no member besides.
func wantSNS(t *testing.T, p harness.Page, status int, code, field string, errcode int) {
	t.Helper()
	wantSNSHeader(t, p, "application/json")
	m := p.JSON(t)
	words, _ := m["error"].(map[string]any)
	message, _ := words["message"].(string)
	errmsg, _ := m["errmsg"].(string)
	got := fmt.Sprint(p.Status, " ", words["code"], " ", words["field"], " ", m["errcode"])
	want := fmt.Sprint(status, " ", code, " ", field, " ", errcode)
	if field == "" {
		want = fmt.Sprint(status, " ", code, " ", any(nil), " ", errcode)
	}
	// S03: field is always there, null for none.
	if _, has := words["field"]; got != want || message == "" || errmsg == "" || len(m) != 3 || !has || len(words) != 3 {
		t.Errorf("got %s, want %s: %s", got, want, p.Body)
	}
	switch retry := p.Header.Get("Retry-After"); {
	case (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests) != (retry != ""):
		t.Errorf("%d with Retry-After %q", status, retry)
	case (code == "invalid_token") != (p.Header.Get("WWW-Authenticate") == "Bearer"):
		t.Errorf("%s with WWW-Authenticate %q", code, p.Header.Get("WWW-Authenticate"))
	}
}
