package authserver_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// advertised is what a client chooses from.
type advertised struct {
	Grants    []oauth.GrantType `json:"grant_types_supported"`
	Responses []string          `json:"response_types_supported"`
	Modes     []string          `json:"response_modes_supported"`
	Methods   []string          `json:"token_endpoint_auth_methods_supported"`
	Scopes    []string          `json:"scopes_supported"`
}

func (g *tokenRig) advertised() (m advertised) {
	g.t.Helper()
	g.must(json.Unmarshal([]byte(g.do("GET", metadataAddress, "").body), &m))
	return m
}

func TestEverythingAdvertisedWorksAndNothingElse(t *testing.T) { // M08
	for name, past := range map[string]bool{"without grants of the past": false, "with grants of the past": true} {
		t.Run(name, func(t *testing.T) {
			g, pair := newKeyRig(t)
			if past {
				g.clients.change("web", func(c *oauth.Client) {
					c.Grants = append(slices.Clone(c.Grants), oauth.DeprecatedGrantTypes...)
					c.Until = map[oauth.GrantType]time.Time{oauth.Implicit: g.now().Add(time.Hour), oauth.Password: g.now().Add(time.Hour)}
				})
			}
			m := g.advertised()
			g.grantsAreHonest(m, past)
			g.methodsAreHonest(m, pair)
			g.responsesAreHonest(m, past)
		})
	}
}

func (g *tokenRig) grantsAreHonest(m advertised, past bool) {
	g.t.Helper()
	requests := map[oauth.GrantType]params{
		"authorization_code": redeemWeb(g.code()),
		"refresh_token":      refreshWeb(g.begin().tokens.Refresh),
		"client_credentials": {"grant_type": "client_credentials", "client_id": "web", "client_secret": webSecret},
		"password":           {"grant_type": "password", "username": "ann", "password": "x", "client_id": "web", "client_secret": webSecret},
		"implicit":           {"grant_type": "implicit", "client_id": "web", "client_secret": webSecret},
		"urn:ietf:params:oauth:grant-type:device_code": {
			"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": g.confirmedDevice("web", webSecret), "client_id": "web", "client_secret": webSecret,
		},
	}
	for grant, p := range requests {
		if slices.Contains(m.Grants, grant) && grant != oauth.Implicit { // which has no place at /token
			g.want(g.token(p), http.StatusOK, "")
		} else {
			g.want(g.token(p), http.StatusBadRequest, "unsupported_grant_type")
		}
	}
	for _, known := range m.Grants {
		if requests[known] == nil {
			g.t.Errorf("%s is advertised and not tested", known)
		}
	}
	for _, g2 := range oauth.DeprecatedGrantTypes {
		if slices.Contains(m.Grants, g2) != past {
			g.t.Errorf("%s: advertised %t", g2, !past)
		}
	}
}

func (g *tokenRig) methodsAreHonest(m advertised, pair keyPair) {
	g.t.Helper()
	job := params{"grant_type": "client_credentials"}
	methods := map[string]func() answer{
		"client_secret_basic": func() answer { return g.token(job, "Authorization", basic("web", webSecret)) },
		"client_secret_post":  func() answer { return g.token(job.with("client_id", "web").with("client_secret", webSecret)) },
		"none":                func() answer { return g.token(redeemApp(g.code(appCode))) },
		"private_key_jwt":     func() answer { return g.token(asserting(pair.sign(g.claims("keyed")))) },
	}
	for method, try := range methods {
		if !slices.Contains(m.Methods, method) {
			g.t.Errorf("%s works and is not advertised", method)
		}
		g.want(try(), http.StatusOK, "")
	}
	for _, known := range m.Methods {
		if methods[known] == nil {
			g.t.Errorf("%s is advertised and not tested", known)
		}
	}
}

func (g *tokenRig) responsesAreHonest(m advertised, past bool) {
	g.t.Helper()
	b := g.browser()
	answered := func(change ...string) url.Values {
		p := webRequest().with("prompt", "consent")
		for i := 0; i+1 < len(change); i += 2 {
			p = p.with(change[i], change[i+1])
		}
		page := b.get(authorizeURL(p))
		if page.status == http.StatusOK && b.cookies[sessionCookie] == "" {
			page = b.signIn(page, "ann", "x")
		}
		if page.status == http.StatusOK {
			page = b.submit(page, "decision", "allow")
		}
		u := must(url.Parse(page.header.Get("Location")))
		if u.Fragment != "" {
			return must(url.ParseQuery(u.Fragment))
		}
		return u.Query()
	}
	for response, gives := range map[string]string{"code": "code", "token": "access_token", "id_token": "id_token", "code token": "code", "none": "state"} {
		v := answered("response_type", response)
		if slices.Contains(m.Responses, response) {
			if v.Get(gives) == "" || v.Has("error") {
				g.t.Errorf("%s is advertised: %v", response, v)
			}
		} else if v.Get("error") != "unsupported_response_type" {
			g.t.Errorf("%s is not advertised: %v", response, v)
		}
	}
	for mode, response := range map[string]string{"query": "code", "fragment": "token", "form_post": "code", "query.jwt": "code"} {
		if !past && response == "token" {
			response = "code"
		}
		if v := answered("response_type", response, "response_mode", mode); slices.Contains(m.Modes, mode) == v.Has("error") {
			g.t.Errorf("mode %s of %v: %v", mode, m.Modes, v)
		}
	}
	want := []string{"code"}
	if past {
		want = append(want, "token")
	}
	if !slices.Equal(m.Responses, want) {
		g.t.Errorf("responses %v", m.Responses)
	}
}
