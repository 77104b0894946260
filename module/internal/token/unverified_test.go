package token

import (
	"strings"
	"testing"
)

func TestUnverifiedTokenClaimsAreReadable(t *testing.T) { // S08
	n := start(t, "ES256")
	raw := n.sign(t, nil, with(n.claims(), "iss", "https://elsewhere.example", "aud", "one", "scope", "read write"))
	u, ok := ReadUnverified(raw[:len(raw)-6] + "AAAAAA")
	if !ok || u.Issuer != "https://elsewhere.example" || len(u.Audience) != 1 || u.Client != "shop" || u.Alg != "ES256" ||
		u.Type != "at+jwt" || u.KeyID != n.header(t)["kid"] || u.Expires.IsZero() || len(u.Scopes) != 2 {
		t.Errorf("%+v", u)
	}
	for _, raw := range []string{"", "x", "a.b", "a.b.c", "a.b.c.d", strings.Repeat("a", maxSize+1), "W10.W10.AA", "bnVsbA.bnVsbA.AA"} {
		if u, ok := ReadUnverified(raw); ok {
			t.Errorf("%.20q: %+v", raw, u)
		}
	}
	odd := encode(t, map[string]any{"alg": 1, "kid": []string{"x"}}) + "." + encode(t, map[string]any{"aud": 7, "exp": "soon", "iss": nil}) + ".AA"
	if u, ok := ReadUnverified(odd); !ok || u.Alg != "" || u.KeyID != "" || u.Audience != nil || !u.Expires.IsZero() {
		t.Errorf("%+v", u)
	}
}
