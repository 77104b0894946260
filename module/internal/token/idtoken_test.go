package token

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// specToken and its at_hash are those of OpenID Connect Core appendix A.3.
const specToken = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"

func (n *node) id() ID {
	return ID{
		Subject: "alice", Client: "shop", Nonce: "n-1", Session: "browser", AuthTime: n.now().Add(-time.Minute),
		AccessToken: specToken, IssuedAt: n.now(), Expires: n.now().Add(time.Hour),
		Claims: map[string]any{"name": "Alice", "email_verified": true},
	}
}

func (n *node) issueID(t testing.TB, alg string) string {
	t.Helper()
	raw, err := n.issuer.IssueID(t.Context(), n.id(), alg)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func decoded(t testing.TB, part string) map[string]any {
	t.Helper()
	raw, err := jose.Base64.DecodeString(part)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestIDTokenHasTheOpenIDConnectClaims(t *testing.T) {
	n := start(t, "ES256")
	for alg, hash := range map[string]string{
		"ES256": "77QmUPtjPfzWtF2AnpK9RQ", "": "77QmUPtjPfzWtF2AnpK9RQ",
		"EdDSA": "q7nS86GgvvFaZkzALLWqJYaJIKw2wCDAVfCAsm5CrBM",
	} {
		raw := n.issueID(t, alg)
		part := strings.Split(raw, ".")
		header, claims := decoded(t, part[0]), decoded(t, part[1])
		if header["typ"] != "JWT" || len(header) != 3 || header["alg"] != cmp.Or(alg, "RS256") {
			t.Errorf("%s: header %v", alg, header)
		}
		now := float64(n.now().Unix())
		want := map[string]any{
			"iss": issuerName, "sub": "alice", "aud": "shop", "azp": "shop", "nonce": "n-1", "sid": "browser",
			"auth_time": now - 60, "iat": now, "exp": now + 3600, "name": "Alice", "email_verified": true, "at_hash": hash,
		}
		if !maps.Equal(claims, want) {
			t.Errorf("%s: claims %v, want %v", alg, claims, want)
		}
	}
}

func TestExtraClaimsNeverReplaceOurs(t *testing.T) {
	n := start(t, "ES256")
	id := n.id()
	id.Nonce, id.Session, id.AccessToken, id.AuthTime = "", "", "", time.Time{}
	id.Claims = map[string]any{"color": "red"}
	for _, name := range ownIDClaims {
		id.Claims[name] = "evil"
	}
	raw, err := n.issuer.IssueID(t.Context(), id, "ES256")
	if err != nil {
		t.Fatal(err)
	}
	claims := decoded(t, strings.Split(raw, ".")[1])
	if got := slices.Sorted(maps.Keys(claims)); !slices.Equal(got, []string{"aud", "azp", "color", "exp", "iat", "iss", "sub"}) {
		t.Errorf("claims %v", got)
	}
	if claims["sub"] != "alice" || claims["iss"] != issuerName || len(id.Claims) != len(ownIDClaims)+1 {
		t.Errorf("claims %v", claims)
	}
}

func TestIDTokensAndAccessTokensAreNotInterchangeable(t *testing.T) { // G14
	n := start(t, "ES256")
	refused(t, n, n.issueID(t, "ES256"))
	id := n.id()
	id.Claims = map[string]any{"client_id": "shop", "jti": "x", "scope": "read"}
	raw, err := n.issuer.IssueID(t.Context(), id, "ES256")
	if err != nil {
		t.Fatal(err)
	}
	refused(t, n, raw)
	signed, err := n.issuer.SignClaims(t.Context(), "JWT", n.claims(), "ES256")
	if err != nil {
		t.Fatal(err)
	}
	refused(t, n, signed)
	for _, raw := range []string{n.issue(t), signed, n.sign(t, nil, with(n.claims(), "azp", "shop", "aud", "shop"))} {
		if _, err := n.issuer.ReadHint(t.Context(), raw); !errors.Is(err, ErrInvalid) {
			t.Errorf("ReadHint = %v", err)
		}
	}
	for _, typ := range []string{"at+jwt", "AT+JWT", "application/at+jwt", ""} {
		if _, err := n.issuer.SignClaims(t.Context(), typ, n.claims(), "ES256"); err == nil {
			t.Errorf("claims of type %q were signed", typ)
		}
	}
	if _, err := n.issuer.SignClaims(t.Context(), "JWT", map[string]any{"azp": "a", "exp": 1}, "ES256"); err == nil {
		t.Error("an id_token was made of claims")
	}
}

func TestForeignIDTokenHintIsRefused(t *testing.T) {
	n := start(t, "ES256")
	raw := n.issueID(t, "ES256")
	n.move(100 * 24 * time.Hour)
	id, err := n.issuer.ReadHint(t.Context(), raw)
	if err != nil || id.Subject != "alice" || id.Client != "shop" || id.Nonce != "n-1" || id.Session != "browser" || id.Expires.IsZero() || id.AuthTime.IsZero() {
		t.Fatalf("ReadHint of an expired id_token = %+v, %v", id, err)
	}
	typ := map[string]any{"typ": "JWT", "alg": "ES256", "kid": n.header(t)["kid"]}
	good := map[string]any{"iss": issuerName, "sub": "alice", "aud": "shop", "azp": "shop", "iat": n.now().Unix(), "exp": n.now().Unix() + 1}
	if _, err := n.issuer.ReadHint(t.Context(), n.sign(t, typ, good)); err != nil {
		t.Fatal(err)
	}
	stranger := newNode(t, storetest.NewMemory(n.now), n.clock, "ES256")
	cases := map[string]string{
		"another's key":     stranger.issueID(t, "ES256"),
		"alg none":          n.sign(t, with(maps.Clone(typ), "alg", "none"), good),
		"alg exchanged":     n.sign(t, with(maps.Clone(typ), "alg", "RS256"), good),
		"an access token":   n.sign(t, with(maps.Clone(typ), "typ", "at+jwt"), good),
		"no typ":            n.sign(t, with(maps.Clone(typ), "typ", nil), good),
		"crit":              n.sign(t, with(maps.Clone(typ), "crit", []string{"exp"}), good),
		"jwk":               n.sign(t, with(maps.Clone(typ), "jwk", map[string]string{}), good),
		"another issuer":    n.sign(t, typ, with(maps.Clone(good), "iss", issuerName+"/")),
		"no subject":        n.sign(t, typ, with(maps.Clone(good), "sub", nil)),
		"no azp":            n.sign(t, typ, with(maps.Clone(good), "azp", nil)),
		"two audiences":     n.sign(t, typ, with(maps.Clone(good), "aud", []string{"shop", "other"})),
		"from the future":   n.sign(t, typ, with(maps.Clone(good), "iat", n.now().Add(time.Hour).Unix())),
		"no expiry":         n.sign(t, typ, with(maps.Clone(good), "exp", nil)),
		"subject a number":  n.sign(t, typ, with(maps.Clone(good), "sub", 1)),
		"signature cut":     raw[:len(raw)-2],
		"no signature":      raw[:strings.LastIndexByte(raw, '.')+1],
		"nothing":           "",
		"too long":          strings.Repeat("a", maxIDSize+1),
		"signed something":  n.sign(t, typ, `"x"`),
		"line break inside": raw[:20] + "\n" + raw[20:],
	}
	for name, hint := range cases {
		n.move(seekPause)
		if id, err := n.issuer.ReadHint(t.Context(), hint); !errors.Is(err, ErrInvalid) || id.Subject != "" {
			t.Errorf("%s: ReadHint = %+v, %v", name, id, err)
		}
	}
	putRing(t, n.store, func(r *ringRecord) { r.Keys[0].Retires = n.now() })
	n.move(ringAge)
	if _, err := n.issuer.ReadHint(t.Context(), raw); !errors.Is(err, errKey) {
		t.Errorf("a hint by a retired key: %v", err)
	}
	n.store.Fail(errDown)
	other := newNode(t, n.store, n.clock, "ES256")
	if _, err := other.issuer.ReadHint(t.Context(), raw); !errors.Is(err, errDown) || errors.Is(err, ErrInvalid) {
		t.Errorf("with the store away: %v", err)
	}
}

func TestIDTokenKeysArePublishedBeforeUse(t *testing.T) {
	n := start(t, "ES256")
	issuer, err := NewIssuer(IssuerConfig{Ring: n.ring, Issuer: issuerName, Now: n.now})
	if err != nil || !slices.Equal(issuer.Algorithms(), []string{"ES256", "RS256"}) || !slices.Equal(issuer.IDAlgorithms(), []string{"RS256"}) {
		t.Fatal(err, issuer.Algorithms())
	}
	before, err := issuer.PublicKeys(t.Context())
	if err != nil || strings.Count(string(before.JSON), `"kid"`) != 2 {
		t.Fatalf("%s, %v", before.JSON, err)
	}
	raw, err := issuer.IssueID(t.Context(), n.id(), "")
	if err != nil {
		t.Fatal(err)
	}
	kid, _ := decoded(t, raw[:strings.IndexByte(raw, '.')])["kid"].(string)
	if !strings.Contains(string(before.JSON), kid) {
		t.Error("the id_token's key was not among the published ones")
	}
	if after, err := issuer.PublicKeys(t.Context()); err != nil || after.ETag != before.ETag {
		t.Errorf("the published keys changed: %v", err)
	}
	if _, err := NewIssuer(IssuerConfig{Ring: n.ring, Issuer: issuerName, IDAlgs: []string{"HS256"}}); err == nil {
		t.Error("HS256 for id_tokens")
	}
	if _, err := issuer.IssueID(t.Context(), n.id(), "none"); err == nil {
		t.Error("an id_token without signature")
	}
}

func TestIncompleteOrOversizedIDTokensAreErrors(t *testing.T) {
	n := start(t, "ES256")
	for name, spoil := range map[string]func(*ID){
		"no subject": func(id *ID) { id.Subject = "" },
		"no client":  func(id *ID) { id.Client = "" },
		"no life":    func(id *ID) { id.Expires = id.IssuedAt },
		"huge":       func(id *ID) { id.Claims = map[string]any{"x": strings.Repeat("x", maxIDSize)} },
	} {
		id := n.id()
		spoil(&id)
		if _, err := n.issuer.IssueID(t.Context(), id, "ES256"); err == nil || errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
