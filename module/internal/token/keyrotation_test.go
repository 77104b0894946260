package token

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func kidOf(t testing.TB, raw string) string {
	t.Helper()
	kid, _ := decoded(t, raw[:strings.IndexByte(raw, '.')])["kid"].(string)
	return kid
}

func (n *node) published(t testing.TB) map[string]jwk {
	t.Helper()
	set, err := n.ring.PublicKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Keys []jwk }
	if err := json.Unmarshal(set.JSON, &list); err != nil {
		t.Fatal(err)
	}
	keys := make(map[string]jwk)
	for _, k := range list.Keys {
		keys[k.Kid] = k
	}
	return keys
}

// states is the ring as it is listed: kid -> state.
func (n *node) states(t testing.TB) map[string]keyring.KeyState {
	t.Helper()
	list, err := n.ring.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	states := make(map[string]keyring.KeyState)
	for _, k := range list {
		states[k.Kid] = k.State
	}
	return states
}

func (n *node) rotate(t testing.TB, alg string) {
	t.Helper()
	if _, err := n.ring.Rotate(t.Context(), alg, keyring.WhyCommand); err != nil {
		t.Fatal(err)
	}
}

// party is somebody else's resource server: it keeps the published keys for max-age and fetches none in between,
// whatever a token says.
type party struct {
	keys    map[string]jwk
	fetched time.Time
}

func (p *party) verify(t *testing.T, from *node, raw string) error {
	t.Helper()
	if now := from.now(); p.keys == nil || now.Sub(p.fetched) >= 5*time.Minute {
		p.keys, p.fetched = from.published(t), now
	}
	k, ok := p.keys[kidOf(t, raw)]
	if !ok {
		return errors.New("the key is not among the published ones")
	}
	public, err := k.public()
	if err != nil {
		return err
	}
	i := strings.LastIndexByte(raw, '.')
	signature, err := jose.Base64.DecodeString(raw[i+1:])
	if err != nil {
		return err
	}
	return jwt.GetSigningMethod(k.Alg).Verify(raw[:i], signature, public)
}

func TestTokensVerifyThroughThreeRotations(t *testing.T) { // E17, M07
	for _, alg := range []string{"ES256", "RS256", "EdDSA"} {
		t.Run(alg, func(t *testing.T) {
			c := newClock()
			m := storetest.NewMemory(c.now)
			nodes := []*node{newNode(t, m, c, alg), newNode(t, m, c, alg), newNode(t, m, c, alg)}
			for _, n := range nodes {
				n.life = 10 * time.Minute
				n.follow(t)
			}
			type living struct {
				raw     string
				expires time.Time
			}
			var tokens []living
			parties := []*party{{}, {}, {}}
			shown, signs := make(map[string]time.Time), make(map[string]bool)
			for step := range 150 { // of 20 s
				if step%45 == 5 {
					nodes[step%len(nodes)].rotate(t, alg)
				}
				n := nodes[step%len(nodes)]
				for kid := range n.published(t) {
					if _, ok := shown[kid]; !ok {
						shown[kid] = c.now()
					}
				}
				a := n.access()
				a.Expires = c.now().Add(10 * time.Minute)
				raw, err := n.issuer.Issue(t.Context(), a)
				if err != nil {
					t.Fatal(err)
				}
				if kid := kidOf(t, raw); !signs[kid] {
					if age := c.now().Sub(shown[kid]); len(signs) > 0 && age < 5*time.Minute {
						t.Errorf("key %s signs %v after it was first shown", kid, age)
					}
					signs[kid] = true
				}
				tokens = append(tokens, living{raw, a.Expires})
				tokens = slices.DeleteFunc(tokens, func(l living) bool { return !c.now().Before(l.expires) })
				for i, l := range tokens {
					if i%7 != step%7 && i < len(tokens)-3 {
						continue // RSA under the race detector takes its time
					}
					if _, err := nodes[(step+i)%len(nodes)].verifier.Verify(t.Context(), l.raw); err != nil {
						t.Fatalf("step %d: a node: %v", step, err)
					}
					// Each fetches from another node than the one it asked last.
					if err := parties[i%len(parties)].verify(t, nodes[(step+i+1)%len(nodes)], l.raw); err != nil {
						t.Fatalf("step %d: a relying party: %v", step, err)
					}
				}
				c.move(20 * time.Second)
			}
			if len(signs) != 4 {
				t.Errorf("%d keys signed, want the first and three more", len(signs))
			}
			c.move(time.Hour)
			if err := nodes[0].ring.Tend(t.Context()); err != nil {
				t.Fatal(err)
			}
			if states := nodes[1].states(t); len(states) != 1 {
				t.Errorf("after all tokens have expired the ring holds %v", states)
			}
		})
	}
}

func TestOldKeyIsKeptUntilItsLastTokenExpires(t *testing.T) { // M07
	n := start(t, "ES256")
	n.issue(t)
	old := must(n.ring.Signer(t.Context(), "ES256"))
	n.rotate(t, "ES256")
	n.move(lead - time.Second)
	last := n.issue(t) // an hour to live
	kid := kidOf(t, last)
	n.move(time.Second)
	if kidOf(t, n.issue(t)) == kid {
		t.Fatal("the old key still signs")
	}
	n.move(time.Hour - 2*time.Second)
	if _, err := n.verifier.Verify(t.Context(), last); err != nil {
		t.Error("a second before its end:", err)
	}
	if _, ok := n.published(t)[kid]; !ok {
		t.Error("the key is not published any more")
	}
	n.move(3 * time.Minute)
	if _, ok := n.published(t)[kid]; ok {
		t.Error("the key is still published")
	}
	forged := signAs(t, old, with(n.claims(), "exp", n.now().Add(time.Hour).Unix()))
	if _, err := n.verifier.Verify(t.Context(), forged); !errors.Is(err, errKey) {
		t.Errorf("a token of a retired key: %v", err)
	}
	if err := n.ring.Tend(t.Context()); err != nil {
		t.Fatal(err)
	}
	if states := n.states(t); len(states) != 1 {
		t.Errorf("the ring holds %v", states)
	}
}

// signAs signs with a key that was held back.
func signAs(t testing.TB, key keyring.Signer, claims any) string {
	t.Helper()
	signed := encode(t, map[string]any{"typ": "at+jwt", "alg": key.Alg, "kid": key.Kid}) + "." + encode(t, claims)
	signature, err := key.Sign(signed)
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + jose.Base64.EncodeToString(signature)
}

func TestLongLivedTokensKeepTheirKey(t *testing.T) {
	n := start(t, "ES256")
	n.life = 8 * time.Hour
	a := n.access()
	a.Expires = n.now().Add(8 * time.Hour)
	long, err := n.issuer.Issue(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	again := newNode(t, n.store, n.clock, "ES256")
	again.follow(t)
	again.life = time.Minute // a restart with a shorter life
	again.rotate(t, "")
	again.move(7 * time.Hour)
	if _, err := again.verifier.Verify(t.Context(), long); err != nil {
		t.Errorf("a token of the earlier configuration: %v", err)
	}
	if life := again.ring.MaxLife(); life != 8*time.Hour {
		t.Errorf("the longest life is %v", life)
	}
}

func TestLongerTokenLifeIsRecordedBeforeTheKeyRetires(t *testing.T) {
	n := start(t, "ES256")
	kid := kidOf(t, n.issue(t))
	n.rotate(t, "")
	n.life = 5 * time.Hour // a reload, while the old key signs on
	if err := n.ring.Tend(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.move(4 * time.Hour)
	if _, ok := n.published(t)[kid]; !ok {
		t.Error("the key went before the tokens of the longer life")
	}
	n.move(2 * time.Hour)
	if _, ok := n.published(t)[kid]; ok {
		t.Error("the key stays for ever")
	}
}

func TestRotationInProgressIsNotRestarted(t *testing.T) {
	c := newClock()
	m := storetest.NewMemory(c.now)
	nodes := []*node{newNode(t, m, c, "ES256"), newNode(t, m, c, "ES256"), newNode(t, m, c, "ES256")}
	nodes[0].issue(t)
	c.move(31 * 24 * time.Hour)
	var wg sync.WaitGroup
	for i := range 12 {
		n := nodes[i%len(nodes)]
		wg.Go(func() {
			var err error
			if i < 6 {
				_, err = n.ring.Rotate(t.Context(), "", keyring.WhyCommand)
			} else {
				err = n.ring.Tend(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	made := 0
	for _, n := range nodes {
		made += len(n.changes)
	}
	if states := nodes[1].states(t); len(states) != 2 || made != 2 {
		t.Errorf("the ring holds %v, and %d keys were told of", states, made)
	}
}

func TestEachAlgorithmRotatesSeparately(t *testing.T) {
	n := start(t, "ES256")
	n.issue(t)
	n.issueID(t, "EdDSA")
	n.rotate(t, "EdDSA")
	count := func() map[string]int {
		of := make(map[string]int)
		for _, k := range n.published(t) {
			of[k.Alg]++
		}
		return of
	}
	if got := count(); !maps.Equal(got, map[string]int{"ES256": 1, "EdDSA": 2}) {
		t.Errorf("%v", got)
	}
	n.rotate(t, "")
	if got := count(); !maps.Equal(got, map[string]int{"ES256": 2, "EdDSA": 2}) {
		t.Errorf("%v", got)
	}
	for _, alg := range []string{"HS256", "none", "x"} {
		if _, err := n.ring.Rotate(t.Context(), alg, keyring.WhyCommand); !errors.Is(err, keyring.ErrUnknownKey) {
			t.Errorf("Rotate(%s) = %v", alg, err)
		}
	}
	empty := newNode(t, storetest.NewMemory(n.now), n.clock, "ES256")
	if list, err := empty.ring.Rotate(t.Context(), "", keyring.WhyCommand); err != nil || len(list) != 0 {
		t.Errorf("an empty ring: %v, %v", list, err)
	}
	if list, err := empty.ring.Rotate(t.Context(), "ES256", keyring.WhyFirst); err != nil || len(list) != 1 || list[0].State != keyring.KeySigns {
		t.Errorf("the first key: %v, %v", list, err)
	}
}

func TestChangesDuringAStoreOutageAreTechnicalErrors(t *testing.T) {
	n := start(t, "ES256")
	kid := kidOf(t, n.issue(t))
	n.store.Fail(errDown)
	for name, call := range map[string]func() error{
		"Rotate": func() error { _, err := n.ring.Rotate(t.Context(), "", keyring.WhyCommand); return err },
		"Revoke": func() error { _, err := n.ring.Revoke(t.Context(), kid); return err },
		"List":   func() error { _, err := n.ring.List(t.Context()); return err },
		"Tend":   func() error { return n.ring.Tend(t.Context()) },
	} {
		if err := call(); !errors.Is(err, errDown) {
			t.Errorf("%s = %v", name, err)
		}
	}
	n.store.Fail(nil)
	n.store.LoseReply(errDown)
	if _, err := n.ring.Rotate(t.Context(), "", keyring.WhyCommand); !errors.Is(err, errDown) {
		t.Errorf("Rotate with a lost reply = %v", err)
	}
	n.rotate(t, "")
	if states := n.states(t); len(states) != 2 {
		t.Errorf("a repeated rotation: %v", states)
	}
}
