package authserver_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// challenged checks a refusal as RFC 6750 section 3 has it; code is "" for no credentials.
func (g *openIDRig) challenged(a answer, status int, code string) {
	g.t.Helper()
	got := a.header.Get("WWW-Authenticate")
	g.want(a, status, a.tokens.Error)
	switch {
	case status == http.StatusServiceUnavailable:
		if got != "" {
			g.t.Errorf("a challenge with a fault: %s", got)
		}
	case code == "":
		if !strings.HasPrefix(got, `Bearer realm="`) || strings.Contains(got, "error") {
			g.t.Errorf("without credentials: %s", got)
		}
	case a.tokens.Error != code || !strings.HasPrefix(got, `Bearer realm="`) || !strings.Contains(got, `error="`+code+`"`):
		g.t.Errorf("got %s %s, want %s", a.tokens.Error, got, code)
	}
}

func TestUserinfoFollowsTheScopes(t *testing.T) {
	g := newOpenIDRig(t)
	ann, bob := g.signedInAs("ann", "x"), g.signedInAs("bob", "y")
	for _, c := range []struct {
		who         *tab
		scope, want string
	}{
		{ann, "openid", `{"sub":"u1"}`},
		{ann, "openid read", `{"sub":"u1"}`},
		{ann, "openid email", `{"email":"ann@example.com","email_verified":true,"sub":"u1"}`},
		{ann, "openid profile", `{"family_name":"Lee","given_name":"Ann","locale":"de-DE","name":"Ann Lee","nickname":"Annie",` +
			`"picture":"https://pictures.example/ann.png","preferred_username":"ann","sub":"u1","updated_at":1700000000,"zoneinfo":"Europe/Berlin"}`},
		{ann, "openid phone address", `{"address":{"country":"DE"},"phone_number":"+4930123456","phone_number_verified":false,"sub":"u1"}`},
		{bob, "openid profile email", `{"preferred_username":"bob","sub":"u2"}`}, // a verified address that is not there
	} {
		access := g.tokensOf(c.who, rpRequest().with("scope", c.scope)).tokens.Access
		a := g.want(g.userinfo(access), 200, "")
		if a.body != c.want {
			t.Errorf("%s\n%s\nwant\n%s", c.scope, a.body, c.want)
		}
		post := g.do("POST", tokenIssuer+"/userinfo", "", "Authorization", "bearer "+access, "Content-Type", "")
		form := g.do("POST", tokenIssuer+"/userinfo", "access_token="+access)
		if post.body != c.want || form.body != c.want || post.status != 200 || form.status != 200 {
			t.Errorf("POST: %d %s, %d %s", post.status, post.body, form.status, form.body)
		}
	}
}

func TestUserinfoNeedsOneLiveUserTokenWithOpenID(t *testing.T) {
	g := newOpenIDRig(t)
	ann := g.signedInAs("ann", "x")
	good := g.tokensOf(ann, rpRequest()).tokens.Access
	at := tokenIssuer + "/userinfo"
	g.want(g.userinfo(good), 200, "")
	g.clients.change("job", func(c *oauth.Client) { c.Scopes = append(slices.Clone(c.Scopes), "openid") })
	program := g.want(g.token(params{"grant_type": "client_credentials", "scope": "openid", "client_id": "job", "client_secret": webSecret}), 200, "").tokens.Access

	g.challenged(g.do("GET", at, ""), 401, "")
	g.challenged(g.do("GET", at, "", "Authorization", "Basic "+good), 401, "")
	g.challenged(g.do("POST", at, "x=y"), 401, "")
	g.challenged(g.userinfo("x"), 401, "invalid_token")
	g.challenged(g.userinfo(good[:len(good)-2]), 401, "invalid_token")
	g.challenged(g.userinfo(program), 401, "invalid_token")
	g.challenged(g.userinfo(g.tokensOf(ann, rpRequest().with("scope", "read profile")).tokens.Access), 403, "insufficient_scope")
	g.challenged(g.do("GET", at+"?access_token="+good, ""), 400, "invalid_request")
	g.challenged(g.do("GET", at+"?a=b&access%5Ftoken=", "", "Authorization", "Bearer "+good), 400, "invalid_request")
	g.challenged(g.do("POST", at, "access_token="+good, "Authorization", "Bearer "+good), 400, "invalid_request")
	g.challenged(g.do("POST", at, "access_token="+good+"&access_token="+good), 400, "invalid_request")
	g.challenged(g.do("GET", at, "", "Authorization", "Bearer"), 400, "invalid_request")
	g.challenged(g.do("GET", at, "", "Authorization", "Bearer a b"), 400, "invalid_request")
	g.want(g.do("GET", at+"?schema=openid", "", "Authorization", "Bearer "+good), 200, "")
	g.want(g.do("PUT", at, ""), 405, "invalid_request")

	twice := httptest.NewRequest("GET", at, nil)
	twice.Header["Authorization"] = []string{"Bearer " + good, "Bearer " + good}
	w := httptest.NewRecorder()
	if g.server.ServeHTTP(w, twice); w.Code != 400 {
		t.Errorf("two headers: %d", w.Code)
	}
	g.pass(time.Hour)
	g.challenged(g.userinfo(good), 401, "invalid_token")
}

func TestUserinfoEndsWithTokenUserOrClient(t *testing.T) {
	g := newOpenIDRig(t)
	ann := g.signedInAs("ann", "x")
	fresh := func() string { return g.tokensOf(ann, rpRequest()).tokens.Access }
	access := fresh()
	fam, _ := claimsOf(t, access)["fam"].(string)
	g.must(g.revoker.Revoke(t.Context(), store.Revocation{Of: store.RevokeGrant, Value: fam, At: g.now()}))
	g.challenged(g.userinfo(access), 401, "invalid_token")

	access = fresh()
	g.users.SetLocked("u1", true)
	g.challenged(g.userinfo(access), 401, "invalid_token")
	g.users.SetLocked("u1", false)
	g.want(g.userinfo(access), 200, "")
	g.users.Fail(errors.New("away"))
	g.challenged(g.userinfo(access), 503, "temporarily_unavailable")
	g.users.Fail(nil)
	g.clients.fault = errLost
	g.challenged(g.userinfo(access), 503, "temporarily_unavailable")
	g.clients.fault = nil
	g.reader.fault = errLost
	g.challenged(g.userinfo(access), 503, "temporarily_unavailable")
	g.reader.fault = nil
	// Another server on the same store signs with the same keys.
	other := *g.reader.read[access]
	other.Issuer = "https://other.example"
	g.reader.read[access], g.reader.deaf = &other, true
	g.challenged(g.userinfo(access), 401, "invalid_token")
	g.reader.deaf = false
	g.want(g.userinfo(access), 200, "")
	g.clients.remove("rp")
	g.challenged(g.userinfo(access), 401, "invalid_token")
}

func TestUserinfoCanBeSigned(t *testing.T) { // Core 5.3.2
	g := newOpenIDRig(t)
	g.clients.change("rp", func(c *oauth.Client) { c.UserinfoContentType = "application/jwt" })
	a := g.userinfo(g.tokensOf(g.signedInAs("ann", "x"), rpRequest().with("scope", "openid email")).tokens.Access)
	if a.status != 200 || a.header.Get("Content-Type") != "application/jwt" || a.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", a.status, a.header)
	}
	want := map[string]any{"iss": tokenIssuer, "aud": "rp", "sub": "u1", "email": "ann@example.com", "email_verified": true}
	if got := claimsOf(t, a.body); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if headerOf(t, a.body)["alg"] != "ES256" {
		t.Error("another algorithm than the client's")
	}
	access := g.tokensOf(g.signedInAs("ann", "x"), rpRequest()).tokens.Access
	g.tokens.fault = errLost
	g.challenged(g.userinfo(access), 503, "temporarily_unavailable")
	g.tokens.fault = nil
	// It is neither an id_token nor an access token.
	if _, err := g.tokens.ReadHint(t.Context(), a.body); err == nil {
		t.Error("it reads as an id_token")
	}
	g.challenged(g.userinfo(a.body), 401, "invalid_token")
}

func TestUserinfoCORSAllowsRegisteredOrigins(t *testing.T) {
	g := newOpenIDRig(t)
	at := tokenIssuer + "/userinfo"
	for origin, allowed := range map[string]bool{"https://spa.example": true, "https://evil.example": false, "null": false} {
		a := g.do("OPTIONS", at, "", "Origin", origin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization")
		if got := a.header.Get("Access-Control-Allow-Origin"); (got == origin) != allowed || !allowed && got != "" || a.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %v", origin, a.header)
		}
		if a := g.do("GET", at, "", "Origin", origin); allowed != (a.header.Get("Access-Control-Allow-Origin") == origin) {
			t.Errorf("%s: a refusal: %v", origin, a.header)
		}
	}
}

func TestDiscoveryListsTheClaimsOfUserinfo(t *testing.T) {
	g := newOpenIDRig(t)
	var m struct {
		Claims []string `json:"claims_supported"`
	}
	g.must(json.Unmarshal([]byte(g.do("GET", discoveryAddress, "").body), &m))
	a := g.userinfo(g.tokensOf(g.signedInAs("ann", "x"), rpRequest().with("scope", "openid profile email")).tokens.Access)
	var told map[string]any
	g.must(json.Unmarshal([]byte(a.body), &told))
	for name := range told {
		if !slices.Contains(m.Claims, name) {
			t.Errorf("%s is told and not listed", name)
		}
	}
	if slices.Contains(m.Claims, "phone_number") {
		t.Error("the scope phone is not declared here, so nobody can ask for it")
	}
}
