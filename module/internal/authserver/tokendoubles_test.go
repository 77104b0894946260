package authserver_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// rigClients is the clients' configuration, which a test may change as a reload does.
type rigClients struct {
	mu    sync.Mutex
	all   map[string]*oauth.Client
	fault error
	now   func() time.Time
}

func newRigClients(now func() time.Time) *rigClients {
	all := oauth.GrantTypes
	code := []oauth.GrantType{oauth.AuthorizationCode, oauth.RefreshToken}
	rw := []string{"read", "write"}
	return &rigClients{now: now, all: map[string]*oauth.Client{
		"web": {
			ID: "web", SecretHashes: []string{secret.Digest(webSecret)}, Grants: all,
			RedirectURIs: []string{webRedirect}, Scopes: rw, DefaultScopes: []string{"read"},
			Audience: []string{"https://api.example", "https://other.example"},
		},
		"app": {ID: "app", Public: true, Grants: code, RedirectURIs: []string{appRedirect}, Scopes: rw},
		"spa": {ID: "spa", Public: true, Grants: all, RedirectURIs: []string{"https://spa.example/cb"}, Scopes: rw, DefaultScopes: rw},
		"job": {ID: "job", SecretHashes: []string{secret.Digest(webSecret)}, Grants: []oauth.GrantType{oauth.ClientCredentials}, Scopes: rw},
		"one": {
			ID: "one", SecretHashes: []string{secret.Digest(webSecret)}, Grants: code[:1],
			RedirectURIs: []string{webRedirect}, Scopes: rw,
		},
		"a b%": {
			ID: "a b%", SecretHashes: []string{secret.Digest(webSecret + "+%:")}, Grants: all, Scopes: rw, DefaultScopes: rw,
		},
	}}
}

func (c *rigClients) Client(_ context.Context, id string) (*oauth.Client, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	client, ok := c.all[id]
	return client, ok, c.fault
}

func (c *rigClients) AllowsOrigin(origin string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, client := range c.all {
		if slices.Contains(client.CORSOrigins(), origin) {
			return true
		}
	}
	return false
}

func (c *rigClients) OptionalGrants() []oauth.GrantType {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []oauth.GrantType
	for _, client := range c.all {
		for _, g := range oauth.OptionalGrantTypes {
			if client.MayUse(g) && !client.Ended(g, c.now()) && !slices.Contains(found, g) {
				found = append(found, g)
			}
		}
	}
	return found
}

func (c *rigClients) change(id string, f func(*oauth.Client)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := *c.all[id]
	f(&changed)
	c.all[id] = &changed
}

func (c *rigClients) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, id)
}

// rigTokens and rigRevoker are the real ones until a test has them fail.
type rigTokens struct {
	authserver.Tokens
	fault error
}

func (i *rigTokens) Issue(ctx context.Context, a token.Access) (string, error) {
	if i.fault != nil {
		return "", i.fault
	}
	return i.Tokens.Issue(ctx, a)
}

func (i *rigTokens) PublicKeys(ctx context.Context) (keyring.KeySet, error) {
	if i.fault != nil {
		return keyring.KeySet{}, i.fault
	}
	return i.Tokens.PublicKeys(ctx)
}

func (i *rigTokens) IssueID(ctx context.Context, id token.ID, alg string) (string, error) {
	if i.fault != nil {
		return "", i.fault
	}
	return i.Tokens.IssueID(ctx, id, alg)
}

func (i *rigTokens) ReadHint(ctx context.Context, raw string) (token.ID, error) {
	if i.fault != nil {
		return token.ID{}, i.fault
	}
	return i.Tokens.ReadHint(ctx, raw)
}

func (i *rigTokens) SignClaims(ctx context.Context, typ string, claims map[string]any, alg string) (string, error) {
	if i.fault != nil {
		return "", i.fault
	}
	return i.Tokens.SignClaims(ctx, typ, claims, alg)
}

type rigRevoker struct {
	to      ending.Revoker
	fault   error
	through *faultyStore // whose faults concern revocations too
}

func (r *rigRevoker) Revoke(ctx context.Context, rv store.Revocation) error {
	if r.fault != nil {
		return r.fault
	}
	if r.through != nil {
		before, after := r.through.step("create")
		if before != nil {
			return before
		}
		if err := r.to.Revoke(ctx, rv); err != nil {
			return err
		}
		return after
	}
	return r.to.Revoke(ctx, rv)
}

// rigVerifier is the real one until a test has it fail, or say what it said before.
type rigVerifier struct {
	to    authserver.Verifier
	fault error
	deaf  bool
	mu    sync.Mutex
	read  map[string]*token.Access
}

func (v *rigVerifier) Verify(ctx context.Context, raw string) (*token.Access, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fault != nil {
		return nil, v.fault
	}
	if v.deaf {
		return v.read[raw], nil
	}
	a, err := v.to.Verify(ctx, raw)
	for range 1000 { // the feed loads in the background
		if err == nil || !strings.Contains(err.Error(), "not loaded") {
			break
		}
		time.Sleep(time.Millisecond)
		a, err = v.to.Verify(ctx, raw)
	}
	if err == nil {
		v.read[raw] = a
	}
	return a, err
}

type rigMetrics struct {
	mu     sync.Mutex
	lines  []string
	faults int // sign-ins that failed for a technical reason
}

func (m *rigMetrics) TokenRequest(grant, outcome string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, grant+" "+outcome)
}

func (m *rigMetrics) SignIn(outcome string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if outcome == "error" {
		m.faults++
	}
}

func (m *rigMetrics) Revocation(outcome string)    { m.TokenRequest("revoke", outcome) }
func (m *rigMetrics) Introspection(outcome string) { m.TokenRequest("introspect", outcome) }

func (m *rigMetrics) DeprecatedGrant(grant string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, "deprecated "+grant)
}

func (m *rigMetrics) GrantEvicted() { m.TokenRequest("grant", "evicted") }

func (m *rigMetrics) all() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.lines)
}

func (m *rigMetrics) last() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lines[len(m.lines)-1]
}

// faultyStore counts the operations and has one, or all from one on, fail: before they
// take effect, or after (the reply is lost).
type faultyStore struct {
	*storetest.Memory

	mu       sync.Mutex
	ops      []string
	failAt   int // the number of the operation, from 1; 0: none
	lastFail int
	after    bool
	err      error
}

func (f *faultyStore) plan(from, to int, after bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ops, f.failAt, f.lastFail, f.after, f.err = nil, from, to, after, err
}

func (f *faultyStore) step(op string) (before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ops = append(f.ops, op)
	if n := len(f.ops); f.failAt == 0 || n < f.failAt || n > f.lastFail {
		return nil, nil
	}
	if f.after && op != "get" && op != "list" {
		return nil, f.err
	}
	return f.err, nil
}

func (f *faultyStore) done() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ops)
}

func (f *faultyStore) Get(ctx context.Context, k store.Key) (store.Record, error) {
	if err, _ := f.step("get"); err != nil {
		return store.Record{}, err
	}
	return f.Memory.Get(ctx, k)
}

func (f *faultyStore) Create(ctx context.Context, r store.Record) (store.Record, error) {
	before, after := f.step("create")
	if before != nil {
		return store.Record{}, before
	}
	r, err := f.Memory.Create(ctx, r)
	if err == nil && after != nil {
		return store.Record{}, after
	}
	return r, err
}

func (f *faultyStore) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	before, after := f.step("swap")
	if before != nil {
		return store.Record{}, before
	}
	r, err := f.Memory.Swap(ctx, r)
	if err == nil && after != nil {
		return store.Record{}, after
	}
	return r, err
}

func (f *faultyStore) Delete(ctx context.Context, k store.Key) error {
	before, after := f.step("delete")
	if before != nil {
		return before
	}
	if err := f.Memory.Delete(ctx, k); err != nil {
		return err
	}
	return after
}

func (f *faultyStore) List(ctx context.Context, kind store.Kind, parent, after string, limit int) ([]store.Record, error) {
	if err, _ := f.step("list"); err != nil {
		return nil, err
	}
	return f.Memory.List(ctx, kind, parent, after, limit)
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
