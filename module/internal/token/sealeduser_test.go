package token

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

const pairwiseName = "oAbCdEfGhIjKlMnOpQrStUvWxYz0"

// pairwise issues a token that calls alice by another name.
func (n *node) pairwise(t testing.TB, change ...func(*Access)) string {
	t.Helper()
	a := n.access()
	a.Pairwise = pairwiseName
	for _, f := range change {
		f(&a)
	}
	raw, err := n.issuer.Issue(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// payload is what everybody can read in a token.
func payload(t testing.TB, raw string) map[string]any {
	t.Helper()
	p, _ := jose.Split(raw)
	var claims map[string]any
	if err := json.Unmarshal(must(jose.Base64.DecodeString(p.Payload)), &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

func TestPairwiseTokenRevealsItsUserToGuardsOnly(t *testing.T) {
	n := start(t, "ES256")
	raw := n.pairwise(t)
	claims := payload(t, raw)
	p, _ := jose.Split(raw)
	if claims["sub"] != pairwiseName || strings.Contains(string(must(jose.Base64.DecodeString(p.Payload))), "alice") {
		t.Errorf("everybody reads %v", claims)
	}
	for range 2 { // the second answer comes from the cache
		a, err := n.verifier.Verify(t.Context(), raw)
		if err != nil || a.Subject != "alice" || a.Pairwise != pairwiseName {
			t.Fatalf("%+v %v", a, err)
		}
	}
	if other := payload(t, n.pairwise(t)); other["sealed_sub"] == claims["sealed_sub"] {
		t.Error("two tokens of a user can be told to be the same user's")
	}
	if plain := payload(t, n.issue(t)); plain["sub"] != "alice" || plain["sealed_sub"] != nil {
		t.Errorf("a token without a pairwise name: %v", plain)
	}
}

func TestForgedOrMovedSealedUserIsRefused(t *testing.T) {
	n := start(t, "ES256")
	good := payload(t, n.pairwise(t))
	sealed, _ := good["sealed_sub"].(string)
	other, _ := payload(t, n.pairwise(t, func(a *Access) { a.Client = "bank" }))["sealed_sub"].(string)
	mallory, err := secrets("m")(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own, err := secrets("s")(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// All of them are signed with the gateway's own key: the signature is no help here.
	for name, spoil := range map[string][]any{
		"in clear":                    {"sealed_sub", "alice"},
		"cut":                         {"sealed_sub", sealed[:len(sealed)-2]},
		"changed":                     {"sealed_sub", sealed[:20] + strings.Repeat("A", 8) + sealed[28:]},
		"under another secret":        {"sealed_sub", mallory.Seal(useUser, []byte("alice"), userOf("shop", pairwiseName))},
		"for another purpose":         {"sealed_sub", own.Seal("signing key", []byte("alice"), userOf("shop", pairwiseName))},
		"of another client":           {"sealed_sub", other},
		"moved to another client":     {"client_id", "bank"},
		"moved to another name":       {"sub", strings.Replace(pairwiseName, "A", "B", 1)},
		"parts that only join alike":  {"client_id", "shop\x00" + pairwiseName[:1], "sub", pairwiseName[1:]},
		"nobody":                      {"sealed_sub", own.Seal(useUser, nil, userOf("shop", pairwiseName))},
		"nobody, padded":              {"sealed_sub", own.Seal(useUser, make([]byte, sealBlock), userOf("shop", pairwiseName))},
		"a number":                    {"sealed_sub", 1},
		"a list":                      {"sealed_sub", []string{sealed}},
		"with a line break":           {"sealed_sub", sealed + "\n"},
		"an object in place of a sub": {"sub", map[string]any{"sub": pairwiseName}},
	} {
		claims := with(map[string]any{}, "iss", good["iss"], "sub", good["sub"], "aud", good["aud"], "client_id", good["client_id"],
			"jti", good["jti"], "iat", good["iat"], "exp", good["exp"], "sealed_sub", sealed)
		t.Run(name, func(t *testing.T) { refused(t, n, n.sign(t, nil, with(claims, spoil...))) })
	}
	if _, err := n.verifier.Verify(t.Context(), n.sign(t, nil, good)); err != nil {
		t.Error("unspoilt:", err)
	}
}

func TestSealedUserLengthRevealsNothing(t *testing.T) {
	n := start(t, "ES256")
	lengths := make(map[int]bool)
	for _, user := range []string{"u", "alice", "9b1f7a3e-5a51-4c0c-8f5e-2f6a1f0d7c11", strings.Repeat("u", 64)} {
		raw := n.pairwise(t, func(a *Access) { a.Subject = user })
		sealed, _ := payload(t, raw)["sealed_sub"].(string)
		lengths[len(sealed)] = true
		if a, err := n.verifier.Verify(t.Context(), raw); err != nil || a.Subject != user {
			t.Errorf("%q: %+v %v", user, a, err)
		}
	}
	if len(lengths) != 1 {
		t.Errorf("sealed users have %v characters", lengths)
	}
	long := strings.Repeat("dc=example,", 12)
	if a, err := n.verifier.Verify(t.Context(), n.pairwise(t, func(a *Access) { a.Subject = long })); err != nil || a.Subject != long {
		t.Errorf("%+v %v", a, err)
	}
	a := n.access()
	a.Pairwise, a.Subject = pairwiseName, "alice\x00"
	if _, err := n.issuer.Issue(t.Context(), a); err == nil {
		t.Error("a user was sealed who would be opened as another")
	}
}

func TestRemovingTheOldSecretEndsPairwiseTokens(t *testing.T) {
	c := newClock()
	m := storetest.NewMemory(c.now)
	under := func(values ...string) *node {
		n := newNode(t, m, c, "ES256")
		n.ring.Keys = secrets(values...)
		n.follow(t)
		return n
	}
	raw := under("s").pairwise(t)
	if a, err := under("n", "s").verifier.Verify(t.Context(), raw); err != nil || a.Subject != "alice" {
		t.Errorf("beside the new secret: %+v %v", a, err)
	}
	refused(t, under("n"), raw)
}

func TestPairwiseTokenWithoutSecretsIsAFault(t *testing.T) {
	n := start(t, "ES256")
	raw, plain := n.pairwise(t), n.issue(t)
	away := true
	n.ring.Keys = func(ctx context.Context) (*secret.Keys, error) {
		if away {
			return nil, errDown
		}
		return secrets("s")(ctx)
	}
	if _, err := n.verifier.Verify(t.Context(), raw); !errors.Is(err, errDown) || errors.Is(err, ErrInvalid) {
		t.Errorf("a fault was answered with %v", err)
	}
	if _, err := n.verifier.Verify(t.Context(), plain); err != nil {
		t.Error("a token that needs no secret:", err)
	}
	a := n.access()
	a.Pairwise = pairwiseName
	if _, err := n.issuer.Issue(t.Context(), a); !errors.Is(err, errDown) {
		t.Errorf("issued without a secret: %v", err)
	}
	away = false
	if _, err := n.verifier.Verify(t.Context(), raw); err != nil {
		t.Error("the fault is remembered:", err)
	}
}

func TestPairwiseTokenEndsWithItsUser(t *testing.T) {
	n := start(t, "ES256")
	raw := n.pairwise(t)
	if _, err := n.verifier.Verify(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
	if err := n.revocations.Revoke(t.Context(), store.Revocation{Of: store.RevokeSubject, Value: "alice"}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.verifier.Verify(t.Context(), raw); !errors.Is(err, ErrOver) || errors.Is(err, ErrExpired) {
		t.Errorf("%v", err)
	}
}

// A request has room for the token in one header, and it travels in query strings.
func TestPairwiseTokenFitsInAKilobyte(t *testing.T) {
	for _, alg := range []string{"ES256", "EdDSA"} {
		n := start(t, alg)
		raw := n.pairwise(t, func(a *Access) {
			a.Subject = strings.Repeat("u", 64)
			a.Client, a.Audience = "wx0123456789abcdef", []string{"https://api.example.org"}
			a.Scopes, a.Grant = []string{"snsapi_login", "snsapi_userinfo"}, secret.ID()
		})
		if len(raw) > 1<<10 {
			t.Errorf("%s: %d bytes", alg, len(raw))
		}
		t.Logf("%s: %d bytes", alg, len(raw))
	}
}
