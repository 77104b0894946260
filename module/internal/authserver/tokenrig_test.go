package authserver_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

const (
	tokenIssuer = "https://id.example/auth"
	webSecret   = "web-secret-0123456789-0123456789-0123"
	webRedirect = "https://web.example/cb"
	appRedirect = "https://app.example/cb"
	verifier    = "verifier-0123456789-0123456789-0123456789-~._"
)

// tokenRig is a server with everything behind it but a real clock.
type tokenRig struct {
	t        *testing.T
	server   *authserver.Server
	store    *faultyStore
	users    *directorytest.Memory
	clients  *rigClients
	tokens   *rigTokens
	revoker  *rigRevoker
	verifier *token.Verifier
	reader   *rigVerifier
	metrics  *rigMetrics
	log      *lockedBuffer

	mu sync.Mutex
	at time.Time
	ip string
}

// rigPages are those of all rigs: to read the templates and texts takes longer than most tests.
var rigPages = sync.OnceValues(func() (*webui.Pages, error) { return webui.New(webui.Config{}) })

func newTokenRig(t *testing.T, change ...func(*authserver.Config)) *tokenRig {
	t.Helper()
	g := &tokenRig{
		t: t, at: time.Unix(1_900_000_000, 0), ip: "192.0.2.1",
		users:   directorytest.NewMemory(directorytest.Seed{User: directory.User{ID: "u1", Username: "ann"}, Password: "x"}),
		metrics: &rigMetrics{}, log: &lockedBuffer{},
	}
	memory := storetest.NewMemory(g.now)
	g.store = &faultyStore{Memory: memory}
	keys, err := secret.NewKeys(bytes.Repeat([]byte("k"), 32))
	g.must(err)
	keysOf := func(context.Context) (*secret.Keys, error) { return keys, nil }
	revocations, err := revocationlist.New(revocationlist.Config{
		Store: memory, Now: g.now, MaxTokenLife: func() time.Duration { return time.Hour },
	})
	g.must(err)
	ring, err := keyring.New(keyring.Config{Store: memory, Keys: keysOf, Revocations: revocations, Now: g.now})
	g.must(err)
	issuer, err := token.NewIssuer(token.IssuerConfig{Ring: ring, Issuer: tokenIssuer, IDAlgs: []string{"ES256"}, Now: g.now})
	g.must(err)
	g.verifier, err = token.NewVerifier(token.VerifierConfig{Ring: ring, Revocations: revocations, Now: g.now})
	g.must(err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = revocations.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	g.reader = &rigVerifier{to: g.verifier, read: map[string]*token.Access{}}
	g.tokens = &rigTokens{Tokens: issuer}
	g.revoker = &rigRevoker{to: revocations}
	g.clients = newRigClients(g.now)
	pages, err := rigPages()
	g.must(err)
	c := authserver.Config{
		Issuer: must(url.Parse(tokenIssuer)), Clients: g.clients, Directory: g.users, Store: g.store,
		Scopes: []authserver.Scope{
			{Name: "read", Text: map[string]string{"en": "Read"}}, {Name: "write", Text: map[string]string{"en": "Write"}},
			{Name: "inner", Text: map[string]string{"en": "Inner"}, Hidden: true},
		},
		Keys: keysOf, Tokens: g.tokens, Revocations: g.revoker, Verifier: g.reader, Pages: pages, Metrics: g.metrics,
		Log:       slog.New(slog.NewTextHandler(g.log, nil)),
		Audience:  []string{"https://api.example"},
		Lifetimes: authserver.Lifetimes{RefreshGrace: 10 * time.Second},
		ClientIP:  func(*http.Request) string { g.mu.Lock(); defer g.mu.Unlock(); return g.ip },
		Now:       g.now,
	}
	for _, f := range change {
		f(&c)
	}
	g.server, err = authserver.New(c)
	g.must(err)
	_, err = issuer.PublicKeys(t.Context()) // the ring is made before a test counts operations
	g.must(err)
	loading, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	g.must(revocations.WaitLoaded(loading))
	return g
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (g *tokenRig) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *tokenRig) now() time.Time { g.mu.Lock(); defer g.mu.Unlock(); return g.at }

func (g *tokenRig) pass(d time.Duration) { g.mu.Lock(); defer g.mu.Unlock(); g.at = g.at.Add(d) }

func (g *tokenRig) from(ip string) { g.mu.Lock(); defer g.mu.Unlock(); g.ip = ip }

// params is a form; "" as a value leaves the parameter out.
type params map[string]string

func (p params) with(name, value string) params {
	c := params{name: value}
	for k, v := range p {
		if k != name {
			c[k] = v
		}
	}
	return c
}

func (p params) encode() string {
	v := url.Values{}
	for name, value := range p {
		if value != "" {
			v.Set(name, value)
		}
	}
	return v.Encode()
}

// answer is what came back from the token endpoint.
type answer struct {
	status int
	header http.Header
	body   string
	tokens struct {
		Access  string `json:"access_token"`
		Type    string `json:"token_type"`
		Expires int    `json:"expires_in"`
		Refresh string `json:"refresh_token"`
		Scope   string `json:"scope"`
		Error   string `json:"error"`
		Text    string `json:"error_description"`
	}
}

func (g *tokenRig) do(method, target, body string, header ...string) answer {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i+1] == "" {
			r.Header.Del(header[i])
		}
	}
	w := httptest.NewRecorder()
	g.server.ServeHTTP(w, r)
	a := answer{status: w.Code, header: w.Header(), body: w.Body.String()}
	if a.body != "" && strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(w.Body.Bytes(), &a.tokens); err != nil {
			g.t.Errorf("the answer is not JSON: %v: %s", err, a.body)
		}
	}
	return a
}

func (g *tokenRig) token(p params, header ...string) answer {
	return g.do(http.MethodPost, tokenIssuer+"/token", p.encode(), header...)
}

// want checks status and error ("" for success) and what holds for every answer.
func (g *tokenRig) want(a answer, status int, code string) answer {
	g.t.Helper()
	if a.status != status || a.tokens.Error != code {
		g.t.Fatalf("got %d %q, want %d %q: %s", a.status, a.tokens.Error, status, code, a.body)
	}
	if a.header.Get("Cache-Control") != "no-store" || a.header.Get("X-Content-Type-Options") != "nosniff" ||
		a.header.Get("Content-Type") != "application/json; charset=utf-8" {
		g.t.Fatalf("headers: %v", a.header)
	}
	if status == http.StatusServiceUnavailable && a.header.Get("Retry-After") == "" {
		g.t.Fatal("no Retry-After")
	}
	if code == "" && strings.Contains(a.body, ":null") {
		g.t.Fatalf("a null member: %s", a.body)
	}
	if code != "" && a.body != "" && !strings.Contains(a.body, `"field":`) { // S03
		g.t.Fatalf("no field: %s", a.body)
	}
	return a
}

// alive reports whether a guard would take the access token.
func (g *tokenRig) alive(access string) bool {
	g.t.Helper()
	for range 1000 { // the feed loads in the background
		_, err := g.verifier.Verify(g.t.Context(), access)
		switch {
		case err == nil:
			return true
		case strings.Contains(err.Error(), "not loaded"):
			time.Sleep(time.Millisecond)
		default:
			return false
		}
	}
	g.t.Fatal("the revocations were never loaded")
	return false
}

// eachGrant changes every family of ann in the store.
func (g *tokenRig) eachGrant(change func(*store.Grant)) {
	g.t.Helper()
	all, err := g.store.List(g.t.Context(), store.KindGrant, "u1", "", 100)
	g.must(err)
	for _, record := range all {
		var v store.Grant
		g.must(store.Decode(record.Value, &v))
		change(&v)
		record.Value = must(store.Encode(&v))
		_, err := g.store.Memory.Swap(g.t.Context(), record)
		g.must(err)
	}
}

// code stores an issued code, as the authorization endpoint does, and returns it.
func (g *tokenRig) code(change ...func(*store.Code)) string {
	g.t.Helper()
	value := secret.Token()
	c := store.Code{
		State: store.CodeIssued, Dialect: store.DialectOAuth, Client: "web", Subject: "u1",
		Scopes: []string{"read", "write"}, RedirectURI: webRedirect,
		AuthTime: g.now(), IssuedAt: g.now(), Expires: g.now().Add(time.Minute),
	}
	named := store.GrantOf(c.Dialect, secret.Digest(value))
	c.Grant = named
	for _, f := range change {
		f(&c)
	}
	if c.Grant == named { // the dialect may be another one now
		c.Grant = store.GrantOf(c.Dialect, secret.Digest(value))
	}
	_, err := g.store.Memory.Create(g.t.Context(), store.Record{
		Key: store.Key{Kind: store.KindCode, ID: secret.Digest(value)}, Value: must(store.Encode(&c)),
		Expires: c.Expires.Add(time.Minute),
	})
	g.must(err)
	return value
}

// codesOf are the codes of a user in a store, used up and taken back as well. One that was used does not say whose it
// was.
func codesOf(t *testing.T, m *storetest.Memory, user string) (codes []store.Code) {
	t.Helper()
	for _, rec := range m.OfKind(store.KindCode) {
		var v store.Code
		if err := store.Decode(rec.Value, &v); err != nil {
			continue // of a newer release
		}
		if v.Subject == user || v.Trimmed() {
			codes = append(codes, v)
		}
	}
	return codes
}

func appCode(c *store.Code) {
	c.Client, c.RedirectURI, c.Challenge = "app", appRedirect, oauth.Challenge(verifier)
}

func redeemWeb(code string) params {
	return params{
		"grant_type": "authorization_code", "code": code, "redirect_uri": webRedirect,
		"client_id": "web", "client_secret": webSecret,
	}
}

func redeemApp(code string) params {
	return params{
		"grant_type": "authorization_code", "code": code, "redirect_uri": appRedirect,
		"client_id": "app", "code_verifier": verifier,
	}
}

func refreshWeb(token string) params {
	return params{"grant_type": "refresh_token", "refresh_token": token, "client_id": "web", "client_secret": webSecret}
}

// begin redeems a fresh code of web.
func (g *tokenRig) begin() answer {
	g.t.Helper()
	return g.want(g.token(redeemWeb(g.code())), 200, "")
}

func basic(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}
