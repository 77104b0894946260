package authserver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const jwtBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// keyPair signs as a client does that was written by somebody else.
type keyPair struct{ key *ecdsa.PrivateKey }

func newKeyPair() keyPair { return keyPair{must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))} }

func (k keyPair) jwks() string {
	point := must(k.key.PublicKey.Bytes())
	b64 := base64.RawURLEncoding
	return fmt.Sprintf(`{"keys":[{"kty":"EC","crv":"P-256","kid":"k1","x":"%s","y":"%s"}]}`, b64.EncodeToString(point[1:33]), b64.EncodeToString(point[33:]))
}

func (k keyPair) sign(claims map[string]any) string {
	b64 := base64.RawURLEncoding
	signed := b64.EncodeToString([]byte(`{"alg":"ES256","kid":"k1"}`)) + "." + b64.EncodeToString(must(json.Marshal(claims)))
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, k.key, sum[:])
	if err != nil {
		panic(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signed + "." + b64.EncodeToString(signature)
}

// claims of a good assertion, with changes; nil removes.
func (g *tokenRig) claims(client string, changes ...any) map[string]any {
	c := map[string]any{
		"iss": client, "sub": client, "aud": tokenIssuer, "jti": secret.ID(),
		"iat": g.now().Unix(), "exp": g.now().Add(2 * time.Minute).Unix(),
	}
	for i := 0; i+1 < len(changes); i += 2 {
		if name, ok := changes[i].(string); ok {
			c[name] = changes[i+1]
		}
	}
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

func asserting(assertion string) params {
	return params{
		"grant_type": "client_credentials", "scope": "read", "client_assertion_type": jwtBearer, "client_assertion": assertion,
	}
}

// newKeyRig has the client "keyed", which authenticates by private_key_jwt.
func newKeyRig(t *testing.T, change ...func(*authserver.Config)) (*tokenRig, keyPair) {
	t.Helper()
	g := newBrowserRig(t, change...)
	pair := newKeyPair()
	g.clients.mu.Lock()
	defer g.clients.mu.Unlock()
	g.clients.all["keyed"] = &oauth.Client{
		ID: "keyed", JWKS: pair.jwks(), Grants: oauth.GrantTypes, Scopes: []string{"read"}, RedirectURIs: []string{webRedirect},
	}
	return g, pair
}

func TestClientAuthenticatesWithSignedAssertion(t *testing.T) {
	g, pair := newKeyRig(t)
	for _, p := range []params{
		asserting(pair.sign(g.claims("keyed"))),
		asserting(pair.sign(g.claims("keyed"))).with("client_id", "keyed"),
		asserting(pair.sign(g.claims("keyed", "aud", []string{tokenIssuer, tokenIssuer + "/token"}))),
	} {
		g.want(g.token(p), 200, "")
	}
}

// CVE-2020-15222: the jti was remembered by one process only, or compared carelessly.
func TestAssertionAuthenticatesOnce(t *testing.T) {
	events := &trail{}
	audited := func(c *authserver.Config) { c.Audit = events }
	var shared authserver.Config
	g, pair := newKeyRig(t, audited, func(c *authserver.Config) { shared = *c })
	second, err := authserver.New(shared)
	g.must(err)
	first := g.server
	claims := g.claims("keyed")
	assertion := pair.sign(claims)
	g.want(g.token(asserting(assertion)), 200, "")
	g.want(g.token(asserting(assertion)), 401, "invalid_client")
	g.want(g.token(asserting(pair.sign(claims))), 401, "invalid_client") // signed anew, the jti is the same
	g.server = second
	g.want(g.token(asserting(assertion)), 401, "invalid_client")
	g.server = first
	g.pass(time.Minute)
	g.want(g.token(asserting(assertion)), 401, "invalid_client")
	if n := events.count(audit.ClientAuth, "replayed"); n != 4 {
		t.Errorf("%d replays in the audit trail, want 4", n)
	}
	// The jti of one client is nothing to another.
	g.clients.mu.Lock()
	g.clients.all["keyed2"] = &oauth.Client{ID: "keyed2", JWKS: pair.jwks(), Grants: oauth.GrantTypes, Scopes: []string{"read"}}
	g.clients.mu.Unlock()
	g.want(g.token(asserting(pair.sign(g.claims("keyed2", "jti", claims["jti"])))), 200, "")
}

func TestParallelAssertionUsesSucceedOnce(t *testing.T) {
	g, pair := newKeyRig(t, func(c *authserver.Config) { c.Protect.ClientFailures = 1000 })
	assertion := pair.sign(g.claims("keyed"))
	var all sync.WaitGroup
	statuses := make([]int, 50)
	for i := range statuses {
		all.Go(func() { statuses[i] = g.token(asserting(assertion)).status })
	}
	all.Wait()
	good := 0
	for _, status := range statuses {
		switch status {
		case http.StatusOK:
			good++
		case http.StatusUnauthorized:
		default:
			t.Errorf("status %d", status)
		}
	}
	if good != 1 {
		t.Errorf("%d of 50 succeeded, want 1", good)
	}
}

func TestAssertionReplayCheckFaultIs503(t *testing.T) {
	g, pair := newKeyRig(t)
	g.store.plan(1, 100, false, errors.New("away"))
	g.want(g.token(asserting(pair.sign(g.claims("keyed")))), 503, "temporarily_unavailable")
}

func TestInvalidAssertionsGetTheSameRefusal(t *testing.T) {
	g, pair := newKeyRig(t, func(c *authserver.Config) { c.Protect.ClientFailures = 1000 })
	g.clients.change("web", func(c *oauth.Client) { c.JWKS, c.AuthMethod = pair.jwks(), "client_secret_basic" })
	stranger := newKeyPair()
	now := g.now()
	unsigned := pair.sign(g.claims("keyed"))
	unsigned = unsigned[:strings.LastIndex(unsigned, ".")+1]
	var want string
	for name, assertion := range map[string]string{
		"an unknown client":           pair.sign(g.claims("nobody")),
		"another's key":               stranger.sign(g.claims("keyed")),
		"a client with a secret only": pair.sign(g.claims("job")),
		"a client held to its secret": pair.sign(g.claims("web")),
		"a public client":             pair.sign(g.claims("app")),
		"without a signature":         unsigned,
		"iss is somebody else":        pair.sign(g.claims("keyed", "iss", "web")),
		"for the token endpoint":      pair.sign(g.claims("keyed", "aud", tokenIssuer+"/token")),
		"for this and another server": pair.sign(g.claims("keyed", "aud", []string{tokenIssuer, "https://other.example"})),
		"for another server":          pair.sign(g.claims("keyed", "aud", "https://other.example")),
		"without aud":                 pair.sign(g.claims("keyed", "aud", nil)),
		"without jti":                 pair.sign(g.claims("keyed", "jti", nil)),
		"without exp":                 pair.sign(g.claims("keyed", "exp", nil)),
		"another's key, expired":      stranger.sign(g.claims("keyed", "exp", now.Add(-2*time.Minute).Unix())),
		"valid for an hour":           pair.sign(g.claims("keyed", "exp", now.Add(time.Hour).Unix())),
		"valid for an hour, no iat":   pair.sign(g.claims("keyed", "exp", now.Add(time.Hour).Unix(), "iat", nil)),
	} {
		a := g.token(asserting(assertion))
		g.want(a, 401, "invalid_client")
		if want == "" {
			want = a.body
		}
		if a.body != want || a.header.Get("WWW-Authenticate") != "" {
			t.Errorf("%s: %s %v, want %s", name, a.body, a.header, want)
		}
	}
}

func TestMalformedAssertionRequestIsRefused(t *testing.T) {
	g, pair := newKeyRig(t)
	good := asserting(pair.sign(g.claims("keyed")))
	for name, c := range map[string]struct {
		p      params
		header []string
		status int
		code   string
	}{
		"with a secret":             {good.with("client_secret", "x"), nil, 400, "invalid_request"},
		"with Basic":                {good, []string{"Authorization", basic("keyed", "x")}, 400, "invalid_request"},
		"with Bearer":               {good, []string{"Authorization", "Bearer x"}, 400, "invalid_request"},
		"of another type":           {good.with("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:saml2-bearer"), nil, 400, "invalid_request"},
		"without its type":          {good.with("client_assertion_type", ""), nil, 400, "invalid_request"},
		"the type alone":            {good.with("client_assertion", ""), nil, 400, "invalid_request"},
		"client_id of another":      {good.with("client_id", "web"), nil, 400, "invalid_request"},
		"no JWT":                    {good.with("client_assertion", "x"), nil, 401, "invalid_client"},
		"five parts":                {good.with("client_assertion", "a.b.c.d.e"), nil, 401, "invalid_client"},
		"longer than any honest":    {good.with("client_assertion", strings.Repeat("a", 9000)), nil, 401, "invalid_client"},
		"a subject that is a list":  {good.with("client_assertion", pair.sign(g.claims("keyed", "sub", []string{"keyed"}))), nil, 401, "invalid_client"},
		"a secret of a keyed one":   {params{"grant_type": "client_credentials", "scope": "read", "client_id": "keyed", "client_secret": webSecret}, nil, 401, "invalid_client"},
		"nothing from a keyed one":  {params{"grant_type": "client_credentials", "scope": "read", "client_id": "keyed"}, nil, 401, "invalid_client"},
		"an empty assertion's type": {params{"grant_type": "client_credentials", "client_assertion_type": jwtBearer, "client_id": "web", "client_secret": webSecret}, nil, 400, "invalid_request"},
	} {
		if a := g.token(c.p, c.header...); a.status != c.status || a.tokens.Error != c.code {
			t.Errorf("%s: %d %s, want %d %s", name, a.status, a.body, c.status, c.code)
		}
	}
	g.want(g.token(good), 200, "") // none of it used the assertion up
}

func TestClientWithSecretAndKeysMayUseEither(t *testing.T) {
	g, pair := newKeyRig(t)
	withSecret := params{"grant_type": "client_credentials", "scope": "read", "client_id": "keyed", "client_secret": webSecret}
	g.clients.change("keyed", func(c *oauth.Client) { c.SecretHashes = []string{secret.Digest(webSecret)} })
	g.want(g.token(withSecret), 200, "")
	g.want(g.token(asserting(pair.sign(g.claims("keyed")))), 200, "")
	g.clients.change("keyed", func(c *oauth.Client) { c.AuthMethod = oauth.PrivateKeyJWT })
	g.want(g.token(withSecret), 401, "invalid_client")
	g.want(g.token(asserting(pair.sign(g.claims("keyed")))), 200, "")
}

func TestGuessedAssertionsAreThrottledLikeSecrets(t *testing.T) {
	events := &trail{}
	g, pair := newKeyRig(t, func(c *authserver.Config) { c.Audit = events })
	stranger := newKeyPair()
	for range 10 {
		g.want(g.token(asserting(stranger.sign(g.claims("keyed")))), 401, "invalid_client")
	}
	a := g.want(g.token(asserting(pair.sign(g.claims("keyed")))), 429, "slow_down")
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if events.count(audit.ClientAuth, "refused") != 10 || events.count(audit.ClientAuth, "limited") != 1 {
		t.Errorf("the audit trail: %v", events.events)
	}
	g.from("192.0.2.99")
	g.want(g.token(asserting(pair.sign(g.claims("keyed")))), 200, "")
}
