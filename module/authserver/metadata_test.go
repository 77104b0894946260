package authserver_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/authserver"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const (
	metadataAddress = "https://id.example/.well-known/oauth-authorization-server/auth"
	keysAddress     = tokenIssuer + "/.well-known/jwks.json"
)

func TestMetadataStatesWhatWorks(t *testing.T) { // M01, M02
	g := newTokenRig(t)
	a := g.do("GET", metadataAddress, "")
	want := `{"issuer":"https://id.example/auth",` +
		`"authorization_endpoint":"https://id.example/auth/authorize","token_endpoint":"https://id.example/auth/token",` +
		`"jwks_uri":"https://id.example/auth/.well-known/jwks.json","scopes_supported":["read","write","offline_access"],` +
		`"response_types_supported":["code"],"response_modes_supported":["query"],` +
		`"grant_types_supported":["authorization_code","refresh_token","client_credentials"],"subject_types_supported":["public"],` +
		`"token_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","none"],` +
		`"code_challenge_methods_supported":["S256"],"ui_locales_supported":["en","zh"],` +
		`"authorization_response_iss_parameter_supported":true,"request_parameter_supported":false,"request_uri_parameter_supported":false}`
	if a.status != 200 || a.body != want {
		t.Errorf("%d\n%s\nwant\n%s", a.status, a.body, want)
	}
}

func TestMetadataOfAnIssuerWithoutPath(t *testing.T) { // M01
	g := newTokenRig(t, func(c *authserver.Config) { c.Issuer = &url.URL{Scheme: "http", Host: "localhost:8080"} })
	a := g.do("GET", "http://localhost:8080/.well-known/oauth-authorization-server", "")
	if a.status != 200 || !strings.HasPrefix(a.body, `{"issuer":"http://localhost:8080","authorization_endpoint":"http://localhost:8080/authorize"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestNothingOfARequestGetsIntoTheMetadata(t *testing.T) { // M03, A38
	g := newTokenRig(t)
	for _, address := range []string{metadataAddress, keysAddress} {
		plain := g.do("GET", address, "")
		spoofed := g.do("GET", strings.Replace(address, "id.example", "evil.example", 1), "",
			"X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "http", "X-Forwarded-Prefix", "/evil",
			"X-Forwarded-Port", "81", "Forwarded", "host=evil.example;proto=http", "X-Original-URL", "/evil")
		if plain.status != 200 || plain.body != spoofed.body || plain.header.Get("ETag") != spoofed.header.Get("ETag") {
			t.Errorf("%s: %s", address, spoofed.body)
		}
	}
}

func TestPublishedDocumentsMayBeKept(t *testing.T) { // M04, M06
	g := newTokenRig(t)
	for _, address := range []string{metadataAddress, keysAddress} {
		a := g.do("GET", address, "")
		etag := a.header.Get("ETag")
		if a.status != 200 || a.header.Get("Content-Type") != "application/json; charset=utf-8" || etag == "" ||
			a.header.Get("Cache-Control") != "public, max-age=300" || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%d %v", a.status, a.header)
		}
		for sent, status := range map[string]int{
			etag: 304, "W/" + etag: 304, `"x", ` + etag: 304, "*": 304, `"x"`: 200, etag[1:]: 200, "": 200,
		} {
			if a := g.do("GET", address, "", "If-None-Match", sent); a.status != status || (a.body == "") != (status == 304) || a.header.Get("ETag") != etag {
				t.Errorf("If-None-Match %s: %d %q", sent, a.status, a.body)
			}
		}
		if a := g.do("HEAD", address, ""); a.status != 200 || a.body != "" {
			t.Errorf("HEAD: %d %q", a.status, a.body)
		}
		g.want(g.do("POST", address, ""), 405, "invalid_request")
	}
}

func TestKeysThatCannotBeReadAreUnavailableAndNotKept(t *testing.T) {
	g := newTokenRig(t)
	g.tokens.fault = errLost
	g.want(g.do("GET", keysAddress, ""), 503, "temporarily_unavailable")
}

func TestTheKeysArePublicOnes(t *testing.T) { // M04
	g := newTokenRig(t)
	var set struct{ Keys []map[string]any }
	g.must(json.Unmarshal([]byte(g.do("GET", keysAddress, "").body), &set))
	if len(set.Keys) == 0 {
		t.Fatal("no keys")
	}
	for _, k := range set.Keys {
		for member := range k {
			if !slices.Contains([]string{"kty", "kid", "use", "alg", "n", "e", "crv", "x", "y"}, member) {
				t.Errorf("a key has %q", member)
			}
		}
	}
}

func TestWhatIsAdvertisedWorksAndNothingElse(t *testing.T) { // M08
	g := newTokenRig(t)
	var m struct {
		Grants  []oauth.GrantType `json:"grant_types_supported"`
		Methods []string          `json:"token_endpoint_auth_methods_supported"`
		Scopes  []string          `json:"scopes_supported"`
	}
	g.must(json.Unmarshal([]byte(g.do("GET", metadataAddress, "").body), &m))
	requests := map[oauth.GrantType]params{
		"authorization_code": redeemWeb(g.code()),
		"refresh_token":      refreshWeb(g.begin().tokens.Refresh),
		"client_credentials": {"grant_type": "client_credentials", "client_id": "web", "client_secret": webSecret},
		"password":           {"grant_type": "password", "username": "ann", "password": "x", "client_id": "web", "client_secret": webSecret},
		"implicit":           {"grant_type": "implicit", "client_id": "web", "client_secret": webSecret},
	}
	for grant, p := range requests {
		if slices.Contains(m.Grants, grant) {
			g.want(g.token(p), http.StatusOK, "")
		} else {
			g.want(g.token(p), http.StatusBadRequest, "unsupported_grant_type")
		}
	}
	job := params{"grant_type": "client_credentials"}
	methods := map[string]func() answer{
		"client_secret_basic": func() answer { return g.token(job, "Authorization", basic("web", webSecret)) },
		"client_secret_post":  func() answer { return g.token(job.with("client_id", "web").with("client_secret", webSecret)) },
		"none":                func() answer { return g.token(redeemApp(g.code(appCode))) },
		"private_key_jwt":     func() answer { return g.token(job.with("client_id", "web").with("client_assertion", "x")) },
	}
	for method, try := range methods {
		if slices.Contains(m.Methods, method) {
			g.want(try(), http.StatusOK, "")
		} else {
			g.want(try(), http.StatusUnauthorized, "invalid_client")
		}
	}
	for _, known := range m.Methods {
		if methods[known] == nil {
			t.Errorf("%s is advertised and not tested", known)
		}
	}
}
