package gateway

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const (
	metadataPath  = "/.well-known/oauth-authorization-server"
	discoveryPath = "/.well-known/openid-configuration"
	keysPath      = "/.well-known/jwks.json"
)

type metadata struct {
	Issuer                 string   `json:"issuer"`
	AuthorizationEndpoint  string   `json:"authorization_endpoint"`
	TokenEndpoint          string   `json:"token_endpoint"`
	JWKSURI                string   `json:"jwks_uri"`
	ResponseTypes          []string `json:"response_types_supported"`
	ResponseModes          []string `json:"response_modes_supported"`
	Grants                 []string `json:"grant_types_supported"`
	Methods                []string `json:"token_endpoint_auth_methods_supported"`
	Challenges             []string `json:"code_challenge_methods_supported"`
	Scopes                 []string `json:"scopes_supported"`
	IDAlgorithms           []string `json:"id_token_signing_alg_values_supported"`
	Iss                    bool     `json:"authorization_response_iss_parameter_supported"`
	RequestURIParameter    *bool    `json:"request_uri_parameter_supported"`
	RequestObjectParameter *bool    `json:"request_parameter_supported"`
}

func readMetadata(t *testing.T, address string) (metadata, map[string]any) {
	t.Helper()
	p := harness.NewBrowser(t, "").Get(address)
	if p.Status != http.StatusOK || !strings.HasPrefix(p.Header.Get("Content-Type"), "application/json") {
		t.Fatalf("%d %v %s", p.Status, p.Header, p.Body)
	}
	var m metadata
	if err := json.Unmarshal([]byte(p.Body), &m); err != nil {
		t.Fatal(err)
	}
	return m, p.JSON(t)
}

func TestMetadataMatchesTheConfiguration(t *testing.T) { // M01, M02
	g, _ := start(t)
	m, all := readMetadata(t, g.ID+metadataPath)
	t.Run("M01 addresses", func(t *testing.T) {
		if m.Issuer != g.ID || m.AuthorizationEndpoint != g.ID+"/authorize" || m.TokenEndpoint != g.ID+"/token" || m.JWKSURI != g.ID+keysPath {
			t.Errorf("%+v", m)
		}
	})
	t.Run("M02 only what is enabled", func(t *testing.T) {
		same := func(name string, got []string, want ...string) {
			t.Helper()
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
		same("challenges", m.Challenges, "S256")
		same("response types", m.ResponseTypes, "code")
		same("response modes", m.ResponseModes, "query")
		same("grants", m.Grants, "authorization_code", "refresh_token", "client_credentials")
		same("id_token algorithms", m.IDAlgorithms, "RS256", "ES256", "EdDSA")
		same("methods", m.Methods, "client_secret_basic", "client_secret_post", "private_key_jwt", "none")
		if !m.Iss || m.RequestURIParameter == nil || *m.RequestURIParameter || m.RequestObjectParameter == nil || *m.RequestObjectParameter {
			t.Errorf("%+v", m)
		}
		for name, value := range all {
			if list, ok := value.([]any); value == nil || ok && len(list) == 0 || strings.HasSuffix(name, "_alg_values_supported") && slices.Contains(list, any("none")) {
				t.Errorf("%s: %v", name, value)
			}
		}
	})
	t.Run("M02 each address is there", func(t *testing.T) {
		for name, value := range all {
			address, ok := value.(string)
			if !ok || name == "issuer" || !strings.HasSuffix(name, "_endpoint") && name != "jwks_uri" {
				continue
			}
			if p := harness.NewBrowser(t, "").Get(address); p.Status == http.StatusNotFound || !strings.HasPrefix(address, g.ID+"/") {
				t.Errorf("%s %s: %d", name, address, p.Status)
			}
		}
	})
}

func TestMetadataOfAnIssuerWithAPath(t *testing.T) { // M01
	g, _ := startSite(t, strings.Replace(site, "issuer http://$ID", "issuer http://$ID/auth/v1", 1))
	m, _ := readMetadata(t, g.ID+metadataPath+"/auth/v1")
	if issuer := g.ID + "/auth/v1"; m.Issuer != issuer || m.AuthorizationEndpoint != issuer+"/authorize" || m.TokenEndpoint != issuer+"/token" || m.JWKSURI != issuer+keysPath {
		t.Errorf("M01 %+v", m)
	}
	if p := harness.NewBrowser(t, "").Get(m.JWKSURI); p.Status != http.StatusOK {
		t.Errorf("%d", p.Status)
	}
	if a, b := harness.NewBrowser(t, "").Get(g.ID+metadataPath+"/auth/v1"), harness.NewBrowser(t, "").Get(m.Issuer+discoveryPath); a.Body != b.Body {
		t.Errorf("M01 the two documents differ: %s", b.Body)
	}
	// The whole thread works below the path, and the answers name it.
	b := harness.NewBrowser(t, g.ID)
	login := b.Get(strings.Replace(authorizeURL(g, "web"), "/authorize", "/auth/v1/authorize", 1))
	if action, _ := harness.Form(t, login); action != m.Issuer+"/login" {
		t.Fatalf("the form goes to %s", action)
	}
	consent := b.Submit(login, url.Values{"username": {username}, "password": {password}})
	p := b.Submit(consent, url.Values{"decision": {"allow"}})
	if q := p.Location(t).Query(); q.Get("iss") != m.Issuer || q.Get("code") == "" {
		t.Errorf("%s", p.Header.Get("Location"))
	}
	for _, c := range append(cookies(t, login), cookies(t, consent)...) {
		if c.Path != "/" {
			t.Errorf("%v", c)
		}
	}
}

func TestMetadataReflectsNothingOfTheRequest(t *testing.T) { // M03
	g, _ := start(t)
	for _, path := range []string{metadataPath, discoveryPath, keysPath} {
		t.Run("M03 "+path, func(t *testing.T) {
			plain := harness.NewBrowser(t, "").Get(g.ID + path)
			spoofed := send(t, harness.NewBrowser(t, ""), http.MethodGet, g.ID+path+"?issuer=https://evil.example", "",
				"X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "https", "X-Forwarded-Prefix", "/evil", "X-Forwarded-Port", "81",
				"Forwarded", "host=evil.example;proto=https", "X-Original-Url", "/evil", "Accept", "text/html")
			if spoofed.Status != http.StatusOK || spoofed.Body != plain.Body {
				t.Errorf("%d %s", spoofed.Status, spoofed.Body)
			}
		})
		t.Run("M06 "+path, func(t *testing.T) {
			for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
				p := send(t, harness.NewBrowser(t, ""), method, g.ID+path, "")
				if p.Status != http.StatusMethodNotAllowed || !strings.Contains(p.Header.Get("Allow"), "GET") {
					t.Errorf("%s: %d %v", method, p.Status, p.Header)
				}
			}
		})
	}
}

func TestOnlyPublicKeysArePublished(t *testing.T) { // M04
	members := map[string][]string{"EC": {"crv", "x", "y"}, "RSA": {"n", "e"}, "OKP": {"crv", "x"}}
	kinds := map[string]string{"ES256": "EC", "RS256": "RSA", "EdDSA": "OKP"}
	for alg := range kinds {
		t.Run("M04 "+alg, func(t *testing.T) {
			g, _ := start(t, "$TOKENS", "alg "+alg)
			p := harness.NewBrowser(t, "").Get(g.ID + keysPath)
			var set struct {
				Keys []map[string]string `json:"keys"`
			}
			if err := json.Unmarshal([]byte(p.Body), &set); err != nil || p.Status != http.StatusOK || len(set.Keys) == 0 {
				t.Fatalf("%d %v %s", p.Status, err, p.Body)
			}
			kids, algs := map[string]bool{}, []string{}
			for _, k := range set.Keys {
				kty := kinds[k["alg"]]
				algs = append(algs, k["alg"])
				if k["kty"] != kty || kty == "" || k["use"] != "sig" || k["kid"] == "" || kids[k["kid"]] {
					t.Errorf("%v", k)
				}
				kids[k["kid"]] = true
				for name := range k {
					if !slices.Contains(append([]string{"kty", "kid", "use", "alg"}, members[kty]...), name) {
						t.Errorf("the key shows %s", name)
					}
				}
				if n, err := base64.RawURLEncoding.DecodeString(k["n"]); kty == "RSA" && (err != nil || len(n) < 256) {
					t.Errorf("RSA with %d bits: %v", 8*len(n), err)
				}
			}
			if slices.Sort(algs); !slices.Equal(algs, []string{"ES256", "EdDSA", "RS256"}) { // a client can choose that of its id_tokens
				t.Errorf("keys for %v", algs)
			}
			access, _ := tokens(t, g, web)
			if p := g.Call(t, http.MethodGet, "/read", access); p.Status != http.StatusOK {
				t.Errorf("%d %s", p.Status, p.Body)
			}
		})
	}
}

func TestEverythingAdvertisedWorksAndNothingElse(t *testing.T) { // M08
	key := harness.NewClientKey(t)
	g, _ := start(t, "$GLOBAL", "client keyed {\n\t\t\tjwks `"+key.JWKS+"`\n\t\t\tgrants client_credentials\n\t\t\tscopes read\n\t\t\tdefault_scopes read\n\t\t}")
	m, _ := readMetadata(t, g.ID+metadataPath)
	_, refresh := tokens(t, g, web)
	grants := map[string]url.Values{
		"authorization_code": exchange(code(t, g, "web"), callback),
		"refresh_token":      {"grant_type": {"refresh_token"}, "refresh_token": {refresh}},
		"client_credentials": {"grant_type": {"client_credentials"}},
		"password":           {"grant_type": {"password"}, "username": {username}, "password": {password}},
		"implicit":           {"grant_type": {"implicit"}},
		"urn:ietf:params:oauth:grant-type:device_code":    {"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {"x"}},
		"urn:ietf:params:oauth:grant-type:jwt-bearer":     {"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {"x"}},
		"urn:ietf:params:oauth:grant-type:token-exchange": {"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}},
		"urn:openid:params:grant-type:ciba":               {"grant_type": {"urn:openid:params:grant-type:ciba"}},
	}
	for name, form := range grants {
		t.Run("M08 grant "+name, func(t *testing.T) {
			p := g.Token(t, web, form)
			if slices.Contains(m.Grants, name) {
				if p.Status != http.StatusOK {
					t.Errorf("%d %s", p.Status, p.Body)
				}
			} else if p.Status != http.StatusBadRequest || p.JSON(t)["error"] != "unsupported_grant_type" {
				t.Errorf("%d %s", p.Status, p.Body)
			}
		})
	}
	for _, name := range m.Grants {
		if grants[name] == nil {
			t.Errorf("%s is advertised and not tested", name)
		}
	}
	machineForm := url.Values{"grant_type": {"client_credentials"}}
	with := func(more url.Values) url.Values {
		v := copied(machineForm)
		for name, values := range more {
			v[name] = values
		}
		return v
	}
	none := exchange(code(t, g, "spa"), "https://spa.example/cb")
	methods := map[string]harness.Page{
		"client_secret_basic": g.Token(t, web, machineForm),
		"client_secret_post":  g.Token(t, harness.Credentials{}, with(url.Values{"client_id": {web.ID}, "client_secret": {web.Secret}})),
		"none":                g.Token(t, spa, none),
		"private_key_jwt": g.Token(t, harness.Credentials{}, with(url.Values{
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {key.Assertion(t, "keyed", g.ID)}})),
	}
	for name, p := range methods {
		t.Run("M08 method "+name, func(t *testing.T) {
			if slices.Contains(m.Methods, name) {
				if p.Status != http.StatusOK {
					t.Errorf("%d %s", p.Status, p.Body)
				}
			} else if p.Status != http.StatusUnauthorized || p.JSON(t)["error"] != "invalid_client" {
				t.Errorf("%d %s", p.Status, p.Body)
			}
		})
	}
	for _, name := range m.Methods {
		if _, ok := methods[name]; !ok {
			t.Errorf("%s is advertised and not tested", name)
		}
	}
}
