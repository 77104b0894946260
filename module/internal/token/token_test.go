package token

import (
	"cmp"
	"context"
	"crypto"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const issuerName = "https://auth.example.org/a"

// clock is set by hand.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Unix(1_800_000_000, 0)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// node is one process: everything but the store is its own.
type node struct {
	*clock
	store       *storetest.Memory
	ring        *keyring.Ring
	issuer      *Issuer
	revocations *revocationlist.List
	verifier    *Verifier

	life, every time.Duration // what the configuration says
	mu          sync.Mutex
	changes     []keyring.Change
}

func (n *node) noted(_ context.Context, c keyring.Change) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.changes = append(n.changes, c)
}

func secrets(values ...string) func(context.Context) (*secret.Keys, error) {
	return func(context.Context) (*secret.Keys, error) {
		var raw [][]byte
		for _, v := range values {
			raw = append(raw, []byte(strings.Repeat(v, 32)))
		}
		return secret.NewKeys(raw...)
	}
}

func hour() time.Duration { return time.Hour }

// newNode joins a store; its feed is not running.
func newNode(t testing.TB, s *storetest.Memory, c *clock, alg string) *node {
	t.Helper()
	n := &node{clock: c, store: s, life: time.Hour}
	var err error
	must := func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	n.revocations, err = revocationlist.New(revocationlist.Config{Store: s, MaxTokenLife: hour, Now: c.now})
	must()
	n.ring, err = keyring.New(keyring.Config{
		Store: s, Keys: secrets("s"), Revocations: n.revocations, Now: c.now,
		MaxTokenLife: func() time.Duration { return n.life }, RotateEvery: func() time.Duration { return n.every },
		Record: n.noted,
	})
	must()
	n.issuer, err = NewIssuer(IssuerConfig{Ring: n.ring, Issuer: issuerName, Alg: alg, IDAlgs: []string{cmp.Or(alg, "ES256")}, Now: c.now})
	must()
	n.verifier, err = NewVerifier(VerifierConfig{Ring: n.ring, Revocations: n.revocations, Now: c.now})
	must()
	return n
}

// start is one node alone, with a running feed.
func start(t testing.TB, alg string) *node {
	t.Helper()
	c := newClock()
	n := newNode(t, storetest.NewMemory(c.now), c, alg)
	n.follow(t)
	return n
}

// follow runs the feed until the test ends and waits for the first load.
func (n *node) follow(t testing.TB) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = n.revocations.Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-done })
	eventually(t, func() bool {
		_, err := n.revocations.Revoked(revocationlist.Token{})
		return err == nil
	})
}

func eventually(t testing.TB, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("what was awaited did not happen")
		}
	}
}

func (n *node) access() Access {
	return Access{
		Subject: "alice", Audience: []string{"https://api.example.org"}, Client: "shop",
		Scopes: []string{"read", "write"}, Grant: "family", Expires: n.now().Add(time.Hour),
	}
}

func (n *node) issue(t testing.TB) string {
	t.Helper()
	raw, err := n.issuer.Issue(t.Context(), n.access())
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// claims of a good token, to be spoilt.
func (n *node) claims() map[string]any {
	return map[string]any{
		"iss": issuerName, "sub": "alice", "aud": "https://api.example.org", "client_id": "shop",
		"jti": secret.ID(), "iat": n.now().Unix(), "exp": n.now().Add(time.Hour).Unix(),
	}
}

func encode(t testing.TB, v any) string {
	t.Helper()
	if s, ok := v.(string); ok {
		return jose.Base64.EncodeToString([]byte(s))
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return jose.Base64.EncodeToString(raw)
}

// sign makes a token with the node's own key, whatever it says. Strings are taken as JSON text.
func (n *node) sign(t testing.TB, header, claims any) string {
	t.Helper()
	key, err := n.ring.Signer(t.Context(), n.issuer.Alg)
	if err != nil {
		t.Fatal(err)
	}
	if header == nil {
		header = n.header(t)
	}
	signed := encode(t, header) + "." + encode(t, claims)
	signature, err := key.Sign(signed)
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + jose.Base64.EncodeToString(signature)
}

func (n *node) header(t testing.TB) map[string]any {
	t.Helper()
	key, err := n.ring.Signer(t.Context(), n.issuer.Alg)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"typ": "at+jwt", "alg": key.Alg, "kid": key.Kid}
}

// ringRecord and storedKey are the stored form of the ring, recordKey where it is.
type ringRecord struct {
	Schema int         `json:"v"`
	Keys   []storedKey `json:"keys"`
}

type storedKey struct {
	Kid        string        `json:"kid"`
	Alg        string        `json:"alg"`
	Public     jwk           `json:"public"`
	Private    string        `json:"private"`
	Created    time.Time     `json:"created"`
	SignsFrom  time.Time     `json:"signs_from,omitzero"`
	SignsUntil time.Time     `json:"signs_until,omitzero"`
	Life       time.Duration `json:"life,omitempty"`
	Retires    time.Time     `json:"retires,omitzero"`
}

type jwk struct {
	Kty string `json:"kty"`
	Kid string `json:"kid,omitempty"`
	Use string `json:"use,omitempty"`
	Alg string `json:"alg,omitempty"`
	Crv string `json:"crv,omitempty"`
	X   string `json:"x,omitempty"`
	Y   string `json:"y,omitempty"`
	N   string `json:"n,omitempty"`
	E   string `json:"e,omitempty"`
}

func (k jwk) public() (crypto.PublicKey, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(must(json.Marshal(k)), &all); err != nil {
		return nil, err
	}
	claims := jose.ClaimsOf(all)
	return jose.PublicKey(&claims)
}

var recordKey = store.Key{Kind: store.KindKeyRing, ID: "signing"}

// What the ring's package promises.
const (
	kidLength = 43
	ringAge   = time.Minute
	seekPause = time.Second
	lead      = 7 * time.Minute
)

// putRing replaces the stored ring.
func putRing(t testing.TB, s *storetest.Memory, change func(*ringRecord)) {
	t.Helper()
	record, err := s.Get(t.Context(), recordKey)
	if err != nil {
		t.Fatal(err)
	}
	var ring ringRecord
	if err := json.Unmarshal(record.Value, &ring); err != nil {
		t.Fatal(err)
	}
	change(&ring)
	if record.Value, err = json.Marshal(ring); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Swap(t.Context(), record); err != nil {
		t.Fatal(err)
	}
}

// counting counts the reads of the ring.
type counting struct {
	store.Backend
	mu   sync.Mutex
	gets int
}

func (c *counting) Get(ctx context.Context, k store.Key) (store.Record, error) {
	c.mu.Lock()
	c.gets++
	c.mu.Unlock()
	return c.Backend.Get(ctx, k)
}

func (c *counting) reads() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gets
}
