package token

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

var errDown = errors.New("the store is down")

func TestConstructorsRefuseIncompleteConfigs(t *testing.T) { // G37
	m := storetest.NewMemory(nil)
	m.Fail(errDown)
	revocations, err := revocationlist.New(revocationlist.Config{Store: m, MaxTokenLife: hour})
	if err != nil {
		t.Fatal(err)
	}
	ring, err := keyring.New(keyring.Config{Store: m, Keys: secrets("s"), Revocations: revocations})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewVerifier(VerifierConfig{Ring: ring, Revocations: revocations}); err != nil {
		t.Error(err)
	}
	if i, err := NewIssuer(IssuerConfig{Ring: ring, Issuer: issuerName}); err != nil || i.Algorithms()[0] != "ES256" {
		t.Errorf("ES256 must be the default: %v, %v", i, err)
	}
	for name, construct := range map[string]func() error{
		"issuer without ring":      func() error { _, err := NewIssuer(IssuerConfig{Issuer: "i"}); return err },
		"issuer without name":      func() error { _, err := NewIssuer(IssuerConfig{Ring: ring}); return err },
		"issuer of HS256":          func() error { _, err := NewIssuer(IssuerConfig{Ring: ring, Issuer: "i", Alg: "HS256"}); return err },
		"issuer of none":           func() error { _, err := NewIssuer(IssuerConfig{Ring: ring, Issuer: "i", Alg: "none"}); return err },
		"revocations, no store":    func() error { _, err := revocationlist.New(revocationlist.Config{MaxTokenLife: hour}); return err },
		"revocations, no life":     func() error { _, err := revocationlist.New(revocationlist.Config{Store: m}); return err },
		"verifier, no ring":        func() error { _, err := NewVerifier(VerifierConfig{Revocations: revocations}); return err },
		"verifier, no revocations": func() error { _, err := NewVerifier(VerifierConfig{Ring: ring}); return err },
	} {
		if construct() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRacingNodesAgreeOnOneKey(t *testing.T) {
	c := newClock()
	m := storetest.NewMemory(c.now)
	var wg sync.WaitGroup
	tokens := make([]string, 16)
	nodes := []*node{newNode(t, m, c, "ES256"), newNode(t, m, c, "ES256"), newNode(t, m, c, "ES256")}
	for i := range tokens {
		wg.Go(func() {
			n := nodes[i%len(nodes)]
			raw, err := n.issuer.Issue(t.Context(), n.access())
			if err != nil {
				t.Error(err)
			}
			tokens[i] = raw
		})
	}
	wg.Wait()
	keys, err := nodes[0].ring.List(t.Context())
	if err != nil || len(keys) != 1 || !keys[0].SignsFrom.IsZero() {
		t.Fatalf("the ring holds %v (%v), want one key that signs at once", keys, err)
	}
	nodes[0].follow(t)
	for _, raw := range tokens {
		if _, err := nodes[0].verifier.Verify(t.Context(), raw); err != nil {
			t.Error(err)
		}
	}
}

func TestConcurrentlyAddedAlgorithmsAllStay(t *testing.T) {
	c := newClock()
	m := storetest.NewMemory(c.now)
	var wg sync.WaitGroup
	for _, alg := range []string{"ES256", "RS256", "EdDSA"} {
		for range 2 {
			n := newNode(t, m, c, alg)
			wg.Go(func() {
				if _, err := n.issuer.PublicKeys(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	set, err := newNode(t, m, c, "ES256").ring.PublicKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, alg := range []string{"ES256", "RS256", "EdDSA"} {
		if n := strings.Count(string(set.JSON), `"`+alg+`"`); n != 1 {
			t.Errorf("%d keys for %s", n, alg)
		}
	}
}

func TestStoreOutageAtFirstUseIsATechnicalError(t *testing.T) { // G37
	n := start(t, "ES256")
	raw := n.issue(t)
	other := newNode(t, n.store, n.clock, "ES256")
	other.follow(t)
	n.store.Fail(errDown)
	if _, err := other.issuer.Issue(t.Context(), other.access()); !errors.Is(err, errDown) {
		t.Errorf("Issue = %v", err)
	}
	if _, err := other.issuer.PublicKeys(t.Context()); !errors.Is(err, errDown) {
		t.Errorf("PublicKeys = %v", err)
	}
	if _, err := other.verifier.Verify(t.Context(), raw); !errors.Is(err, errDown) || errors.Is(err, ErrInvalid) {
		t.Errorf("Verify = %v", err)
	}
	n.store.Fail(nil)
	if _, err := other.verifier.Verify(t.Context(), raw); err != nil {
		t.Errorf("Verify when the store is back = %v", err)
	}
	other.issue(t)
}

func TestLostReplyDuringKeyCreationCostsOneError(t *testing.T) {
	n := start(t, "ES256")
	n.store.LoseReply(errDown)
	if _, err := n.issuer.Issue(t.Context(), n.access()); !errors.Is(err, errDown) {
		t.Fatalf("Issue = %v", err)
	}
	if _, err := n.verifier.Verify(t.Context(), n.issue(t)); err != nil {
		t.Error(err)
	}
}

func TestCachedKeyRingSurvivesAnOutage(t *testing.T) {
	n := start(t, "ES256")
	raw := n.issue(t)
	n.store.Fail(errDown)
	n.move(2 * ringAge)
	for range 3 {
		if _, err := n.ring.Lookup(t.Context(), n.header(t)["kid"].(string)); err != nil {
			t.Error(err)
		}
	}
	if _, err := n.issuer.Issue(t.Context(), n.access()); err != nil {
		t.Error("signing needs no store once the key is known:", err)
	}
	forged := encode(t, with(n.header(t), "kid", strings.Repeat("k", kidLength))) + raw[strings.IndexByte(raw, '.'):]
	if _, err := n.verifier.Verify(t.Context(), forged); !errors.Is(err, errDown) {
		t.Errorf("whether an unknown key is new cannot be told without the store: %v", err)
	}
}

func TestUnknownKeysRereadTheRingOnceASecond(t *testing.T) {
	n := start(t, "ES256")
	raw := n.issue(t)
	rest := raw[strings.IndexByte(raw, '.'):]
	c := &counting{Backend: n.store}
	n.ring.Store = c
	flood := func() {
		for i := range 200 {
			kid := fmt.Sprintf("%0*d", kidLength, i)
			if _, err := n.verifier.Verify(t.Context(), encode(t, with(n.header(t), "kid", kid))+rest); !errors.Is(err, ErrInvalid) {
				t.Fatal(err)
			}
		}
	}
	flood()
	if c.reads() != 1 {
		t.Errorf("%d reads, want 1", c.reads())
	}
	n.move(seekPause)
	flood()
	if c.reads() != 2 {
		t.Errorf("%d reads a second later, want 2", c.reads())
	}
	n.move(-time.Hour)
	flood()
	if c.reads() > 4 {
		t.Errorf("%d reads after the clock was set back", c.reads())
	}
}

func TestKeyOfAnotherNodeIsFoundAtOnce(t *testing.T) {
	c := newClock()
	m := storetest.NewMemory(c.now)
	one, two := newNode(t, m, c, "ES256"), newNode(t, m, c, "ES256")
	two.follow(t)
	if _, err := two.ring.PublicKeys(t.Context()); err != nil { // an empty ring is in memory
		t.Fatal(err)
	}
	raw := one.issue(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := two.verifier.Verify(t.Context(), raw); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestChangedSecretIsATechnicalError(t *testing.T) {
	n := start(t, "ES256")
	raw := n.issue(t)
	other := newNode(t, n.store, n.clock, "ES256")
	other.ring.Keys = secrets("x")
	_, err := other.issuer.Issue(t.Context(), n.access())
	if !errors.Is(err, secret.ErrForged) || errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "another secret") {
		t.Errorf("Issue = %v", err)
	}
	if _, err := n.verifier.Verify(t.Context(), raw); err != nil {
		t.Error("verification needs no secret:", err)
	}
	other.ring.Keys = secrets("x", "s")
	other.issue(t)
	third := newNode(t, n.store, n.clock, "ES256")
	third.ring.Keys = func(context.Context) (*secret.Keys, error) { return nil, errDown }
	if _, err := third.issuer.Issue(t.Context(), n.access()); !errors.Is(err, errDown) {
		t.Errorf("Issue = %v", err)
	}
}

func TestPublishedKeysHaveNoPrivateMember(t *testing.T) { // M04
	c := newClock()
	m := storetest.NewMemory(c.now)
	allowed := map[string][]string{
		"EC": {"alg", "crv", "kid", "kty", "use", "x", "y"}, "RSA": {"alg", "e", "kid", "kty", "n", "use"},
		"OKP": {"alg", "crv", "kid", "kty", "use", "x"},
	}
	var last keyring.KeySet
	for _, alg := range []string{"ES256", "RS256", "EdDSA"} {
		var err error
		before := last
		if last, err = newNode(t, m, c, alg).issuer.PublicKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
		if last.ETag == before.ETag {
			t.Error("the tag must change with the keys")
		}
	}
	if !regexp.MustCompile(`^"[A-Za-z0-9_-]+"$`).MatchString(last.ETag) {
		t.Errorf("ETag = %s", last.ETag)
	}
	var set struct{ Keys []map[string]string }
	if err := json.Unmarshal(last.JSON, &set); err != nil || len(set.Keys) != 3 {
		t.Fatalf("%s: %v", last.JSON, err)
	}
	seen := map[string]bool{}
	for _, k := range set.Keys {
		var names []string
		for name := range k {
			names = append(names, name)
		}
		slices.Sort(names)
		if !slices.Equal(names, allowed[k["kty"]]) || k["use"] != "sig" || seen[k["kid"]] {
			t.Errorf("key %v", k)
		}
		seen[k["kid"]] = true
		if n, _ := jose.Base64.DecodeString(k["n"]); k["kty"] == "RSA" && len(n)*8 < 2048 {
			t.Errorf("an RSA key of %d bits", len(n)*8)
		}
	}
}

func TestPrivateKeysAreNeitherStoredNorPrintedInClear(t *testing.T) {
	n := start(t, "EdDSA")
	n.issue(t)
	var text strings.Builder
	for _, v := range []any{n.ring, n.issuer, n.verifier, struct{ R *keyring.Ring }{n.ring}} {
		for _, verb := range []string{"%v", "%+v", "%#v"} {
			fmt.Fprintf(&text, verb, v)
		}
	}
	for _, verb := range []string{"%s", "%q", "%x", "%d", "%p"} {
		fmt.Fprintf(&text, verb, n.ring)
	}
	record, err := n.store.Get(t.Context(), recordKey)
	if err != nil {
		t.Fatal(err)
	}
	text.Write(record.Value)
	var stored ringRecord
	if err := json.Unmarshal(record.Value, &stored); err != nil {
		t.Fatal(err)
	}
	keys := must(n.ring.Keys(t.Context()))
	der := must(keys.Open("signing key", stored.Keys[0].Private, []byte(stored.Keys[0].Kid)))
	key, ok := must(x509.ParsePKCS8PrivateKey(der)).(ed25519.PrivateKey)
	if !ok {
		t.Fatal("the key is of another type")
	}
	seed := key.Seed()
	for _, form := range []string{
		string(seed), jose.Base64.EncodeToString(seed), fmt.Sprintf("%x", seed), fmt.Sprint(seed), strings.Trim(fmt.Sprint(seed), "[]"),
	} {
		if strings.Contains(text.String(), form) {
			t.Error("a private key was printed or stored in the clear")
		}
	}
}

func TestDamagedKeyRingIsATechnicalError(t *testing.T) {
	cases := map[string]func(*ringRecord){
		"newer schema":        func(r *ringRecord) { r.Schema = 1 + 1 },
		"no schema":           func(r *ringRecord) { r.Schema = 0 },
		"another kid":         func(r *ringRecord) { r.Keys[0].Kid = strings.Repeat("k", kidLength) },
		"a kid twice":         func(r *ringRecord) { r.Keys = append(r.Keys, r.Keys[0]) },
		"unknown algorithm":   func(r *ringRecord) { r.Keys[0].Alg = "HS256" },
		"algorithm exchanged": func(r *ringRecord) { r.Keys[0].Alg = "RS256" },
		"not on the curve":    func(r *ringRecord) { r.Keys[0].Public.X = r.Keys[0].Public.Y },
		"too many keys": func(r *ringRecord) {
			for range 64 {
				r.Keys = append(r.Keys, r.Keys[0])
			}
		},
	}
	for name, damage := range cases {
		t.Run(name, func(t *testing.T) {
			n := start(t, "ES256")
			raw := n.issue(t)
			putRing(t, n.store, damage)
			fresh := newNode(t, n.store, n.clock, "ES256")
			if _, err := fresh.verifier.Verify(t.Context(), raw); err == nil || errors.Is(err, ErrInvalid) {
				t.Errorf("Verify = %v, want a technical error", err)
			}
			if _, err := fresh.issuer.Issue(t.Context(), fresh.access()); err == nil {
				t.Error("Issue must not replace a ring that it cannot read")
			}
		})
	}
}
