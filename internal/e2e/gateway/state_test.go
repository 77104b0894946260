package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// lax is a client whose own rule about state differs from the global one.
const lax = `client lax {
			secret lax-secret-0123456789-0123456789-0123456789
			redirect_uri https://client.example/cb
			scopes read openid
			require_state unless_pkce_or_nonce
		}
		client strict {
			secret strict-secret-0123456789-0123456789-01234567
			redirect_uri https://client.example/cb
			scopes read openid
			require_state always
		}`

// Requests without state, as changes to a valid one. With plain there is no PKCE.
var (
	noState   = []string{"state", "-"}
	plain     = append([]string{"code_challenge", "-", "code_challenge_method", "-"}, noState...)
	withNonce = append([]string{"nonce", "n-0S6_WzA2Mj", "scope", "openid read"}, plain...)
	// Without scope openid there is no id_token to compare a nonce with.
	vainNonce = append([]string{"nonce", "n-0S6_WzA2Mj"}, plain...)
)

// wantStateless asks without state and gets a code.
func wantStateless(t *testing.T, c *coder, client string, changes ...string) {
	t.Helper()
	q := c.b.Authorize(authorizeURL(c.g, client, changes...), username, password).Query()
	if q.Get("code") == "" || q.Has("state") {
		t.Errorf("%s %v: %v", client, changes, q)
	}
}

// wantStateMissed asks without state and is told which word decides that.
func wantStateMissed(t *testing.T, c *coder, client string, changes ...string) {
	t.Helper()
	q := c.b.Authorize(authorizeURL(c.g, client, changes...), username, password).Query()
	if q.Get("error") != "invalid_request" || q.Has("code") || !strings.Contains(q.Get("error_description"), "require_state") {
		t.Errorf("%s %v: %v", client, changes, q)
	}
}

// S18: by default every request carries a state. One client, or all, may do with PKCE or a
// nonce instead, which stop the same forgery.
func TestStateIsRequiredUnlessPKCEOrNonceMayReplaceIt(t *testing.T) {
	for name, tc := range map[string]struct {
		global, client string
		stateless      bool // with PKCE, or with a nonce that is checked
	}{
		"S18 by default":                      {"", "web", false},
		"S18 the client's own word":           {"", "lax", true},
		"S18 always, by the client's word":    {"require_state unless_pkce_or_nonce", "strict", false},
		"S18 the global word":                 {"require_state unless_pkce_or_nonce", "other", true},
		"S18 the global word in its old form": {"require_state with_pkce_optional", "other", true},
	} {
		t.Run(name, func(t *testing.T) {
			site := strings.Replace(trustingSite, "scopes read write admin", "scopes read write admin openid", 1)
			g, _ := startSite(t, site, "$GLOBAL", tc.global+"\n\t\t"+lax)
			c := newCoder(t, g)
			if tc.stateless {
				wantStateless(t, c, tc.client, noState...)
				wantStateless(t, c, tc.client, "state", "")
				wantStateless(t, c, tc.client, withNonce...)
			} else {
				wantStateMissed(t, c, tc.client, noState...)
			}
			wantStateMissed(t, c, tc.client, plain...)
			wantStateMissed(t, c, tc.client, vainNonce...)
			if c.code(tc.client) == "" {
				t.Error("with a state there is no code")
			}
		})
	}
}

func TestRegisteredClientMayOmitState(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_INITIAL", initialToken)
	const to = "https://new.example/cb"
	for name, global := range map[string]string{"S18 by default": "", "S18 not where the operator said always": "require_state always\n\t\t"} {
		t.Run(name, func(t *testing.T) {
			g, _ := startSite(t, trustingSite, "$GLOBAL", global+"registration {\n\t\t\tinitial_token {env.GATEHOUSE_TEST_INITIAL}\n\t\t\tscopes read\n\t\t}")
			c := newCoder(t, g)
			p := call(t, http.MethodPost, g.ID+"/register", initialToken, map[string]any{"redirect_uris": []string{to}, "scope": "read"})
			id := member(t, p, "client_id")
			if id == "" {
				t.Fatal(p.Body)
			}
			if global == "" {
				wantStateless(t, c, id, append([]string{"redirect_uri", to}, noState...)...)
			} else {
				wantStateMissed(t, c, id, append([]string{"redirect_uri", to}, noState...)...)
			}
			wantStateMissed(t, c, id, append([]string{"redirect_uri", to}, plain...)...)
		})
	}
}

// S18: the provider whose libraries Variant B serves asks for no state, and some libraries
// send none.
func TestVariantBSiteMayOmitStateWhenConfigured(t *testing.T) {
	site := func(id, word string) string {
		return "client " + id + ` {
			secret ` + portalSecret + `
			variant_b
			trusted
			redirect_uri https://portal.example/wx
			scopes snsapi_userinfo snsapi_login
			` + word + "\n\t\t}\n\t\t"
	}
	g, _ := startSite(t, trustingSite, "$GLOBAL", site("asks", "")+site("never", "require_state never")+site("pkce", "require_state unless_pkce_or_nonce"))
	b := harness.NewBrowser(t, g.ID)
	query := func(client string, more ...string) string {
		q := url.Values{"appid": {client}, "redirect_uri": {snsCallback}, "response_type": {"code"}, "scope": {"snsapi_userinfo"}}
		for i := 0; i+1 < len(more); i += 2 {
			q.Set(more[i], more[i+1])
		}
		return g.ID + "/connect/oauth2/authorize?" + q.Encode()
	}
	pkce := []string{"code_challenge", harness.Challenge(harness.Verifier), "code_challenge_method", "S256"}
	for name, address := range map[string]string{"S18 never": query("never"), "S18 unless, with PKCE": query("pkce", pkce...)} {
		if q := b.Authorize(address, username, password).Query(); q.Get("code") == "" || q.Has("state") {
			t.Errorf("%s: %v", name, q)
		}
	}
	if q := b.Authorize(query("never", "state", "S"), username, password).Query(); q.Get("state") != "S" {
		t.Errorf("S18 a state that is sent comes back: %v", q)
	}
	for name, address := range map[string]string{
		"S18 by default": query("asks"), "S18 by default, with PKCE": query("asks", pkce...),
		"S18 unless, without PKCE": query("pkce"), "S18 unless, with a nonce that nothing checks": query("pkce", "nonce", "n-0S6_WzA2Mj"),
	} {
		if p := b.Get(address); p.Status != http.StatusBadRequest || p.Header.Get("Location") != "" || !strings.Contains(p.Body, "require_state") {
			t.Errorf("%s: %d %.300s", name, p.Status, p.Body)
		}
	}
	for name, address := range map[string]string{
		"S18 a code to scan": strings.Replace(strings.Replace(query("never"), "oauth2/authorize", "qrconnect", 1), "snsapi_userinfo", "snsapi_login", 1),
	} {
		if p := b.Get(address); p.Status != http.StatusOK {
			t.Errorf("%s: %d %.300s", name, p.Status, p.Body)
		}
	}
}
