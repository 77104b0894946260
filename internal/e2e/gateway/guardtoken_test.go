package gateway

import (
	"bytes"
	"compress/flate"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/quickest"
)

// refusedTokens wants each refused by the guard as invalid, in little time.
func refusedTokens(t *testing.T, g *harness.Gateway, up *harness.Upstream, forged map[string]string) {
	t.Helper()
	for name, token := range forged {
		t.Run(name, func(t *testing.T) {
			const most = 5 * time.Millisecond * raceFactor
			if took := quickest.Of(3, most, func() {
				p := bearer(t, g, "/read", token)
				if p.Status == http.StatusBadRequest {
					wantChallenge(t, p, up, http.StatusBadRequest, "invalid_request")
				} else {
					wantChallenge(t, p, up, http.StatusUnauthorized, "invalid_token")
				}
			}); took > most {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestForgedTokensAreRefused(t *testing.T) {
	for _, alg := range []string{"ES256", "RS256"} {
		t.Run(alg, func(t *testing.T) {
			g, up, m := startFaulty(t, "$TOKENS", "alg "+alg)
			f := newForger(t, g, m)
			if p := bearer(t, g, "/read", f.token(nil)); p.Status != http.StatusOK {
				t.Fatalf("the forger's own: %d %s", p.Status, p.Body)
			}
			wantHits(t, up, 1)
			var hits atomic.Int64
			canary := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
			defer canary.Close()
			forged := map[string]string{}
			unsigned := func(header map[string]any, signature string) string {
				return segment(t, header) + "." + segment(t, f.claims) + "." + signature
			}
			for _, none := range []string{"none", "None", "nOnE", "NONE", ""} {
				forged["G09 alg "+none] = unsigned(f.header(map[string]any{"alg": none}), "")
				forged["G09 signed with alg "+none] = f.sign(f.header(map[string]any{"alg": none}), f.claims)
				forged["G09 without kid, alg "+none] = unsigned(f.header(map[string]any{"alg": none, "kid": absent{}}), "")
			}
			forged["G09 empty signature"] = unsigned(f.header(nil), "")
			forged["G09 a signature of zeros"] = unsigned(f.header(nil), base64.RawURLEncoding.EncodeToString(make([]byte, 64)))
			for name, key := range publicForms(t, f) {
				for _, hs := range []string{"HS256", f.alg} {
					header := f.header(map[string]any{"alg": hs})
					signed := segment(t, header) + "." + segment(t, f.claims)
					mac := hmac.New(sha256.New, key)
					mac.Write([]byte(signed))
					forged["G10 "+hs+" with the public key as "+name] = signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
				}
			}
			for name, other := range map[string]string{"RS256": "RS256", "ES256": "ES256", "ES384": "ES384", "PS256": "PS256", "EdDSA": "EdDSA"} {
				if other != f.alg {
					forged["G10 alg "+name] = f.sign(f.header(map[string]any{"alg": other}), f.claims)
				}
			}
			for name, kid := range map[string]any{
				"unknown": "unknown", "a path": "../../dev/null", "SQL": "'; --", "a list": []string{f.kid}, "a number": 1, "absent": absent{}, "an address": canary.URL,
				"7 KiB": strings.Repeat("k", 7000), "empty": "", "null": nil,
			} {
				forged["G11 kid "+name] = f.sign(f.header(map[string]any{"kid": kid}), f.claims)
			}
			for name, value := range map[string]any{
				"jwk": f.public, "jku": canary.URL, "x5u": canary.URL, "x5c": []string{"MIIB"}, "x5t": "x",
			} {
				forged["G12 "+name] = f.sign(f.header(map[string]any{name: value}), f.claims)
				forged["G12 "+name+" without kid"] = f.sign(f.header(map[string]any{name: value, "kid": absent{}}), f.claims)
			}
			forged["G13 crit"] = f.sign(f.header(map[string]any{"crit": []string{"x"}, "x": 1}), f.claims)
			forged["G13 b64 false"] = f.sign(f.header(map[string]any{"b64": false, "crit": []string{"b64"}}), f.claims)
			forged["G13 zip"] = f.sign(f.header(map[string]any{"zip": "DEF"}), deflated(t, f.claims))
			forged["G13 JWE"] = segment(t, map[string]any{"alg": "RSA-OAEP", "enc": "A256GCM", "kid": f.kid}) + ".AAAA.AAAA.AAAA.AAAA"
			forged["G13 JWE, PBES2"] = segment(t, map[string]any{"alg": "PBES2-HS256+A128KW", "enc": "A256GCM", "p2c": 1 << 31, "p2s": "AAAA"}) + ".AAAA.AAAA.AAAA.AAAA"
			forged["G13 PBES2 in three parts"] = f.sign(f.header(map[string]any{"alg": "PBES2-HS256+A128KW", "p2c": 1 << 31}), f.claims)
			forged["G13 a deflate bomb"] = segment(t, map[string]any{"alg": "dir", "enc": "A256GCM", "zip": "DEF"}) + ".." + strings.Repeat("A", 4096) + ".AAAA.AAAA"
			forged["G13 JSON instead of the compact form"] = base64.RawURLEncoding.EncodeToString([]byte(`{"payload":"x","signatures":[]}`))
			forged["G13 a member twice"] = f.sign(`{"typ":"at+jwt","alg":"none","alg":"`+f.alg+`","kid":"`+f.kid+`","kid":"x"}`, f.claims)
			for _, typ := range []any{"JWT", "jwt", "logout+jwt", "dpop+jwt", "id_token", absent{}, nil, "at+JWT2"} {
				forged[fmt.Sprintf("G14 typ %v", typ)] = f.sign(f.header(map[string]any{"typ": typ}), f.claims)
			}
			refusedTokens(t, g, up, forged)
			if hits.Load() != 0 {
				t.Errorf("G12: the canary saw %d requests", hits.Load())
			}
		})
	}
}

// publicForms are what naive libraries take for the HMAC key.
func publicForms(t *testing.T, f *forger) map[string][]byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(f.signer.Public())
	if err != nil {
		t.Fatal(err)
	}
	jwk, err := json.Marshal(f.public)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return map[string][]byte{
		"PEM": text, "PEM without newline": bytes.TrimSpace(text), "DER": der, "DER with newline": append(bytes.Clone(der), '\n'),
		"JWK": jwk, "JWK with newline": append(bytes.Clone(jwk), '\n'),
	}
}

func deflated(t *testing.T, v any) string {
	t.Helper()
	plain, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGenuineSignatureIsNotEnough(t *testing.T) {
	g, up, m := startFaulty(t)
	f := newForger(t, g, m)
	access, refresh := tokens(t, g, web)
	now := time.Now().Unix()
	forged := map[string]string{
		"G14 a refresh token": refresh,
		"G14 a code":          newCoder(t, g).code("web"),
		"G14 cut":             access[:strings.LastIndex(access, ".")],
	}
	audience := "https://api.example"
	for name, changes := range map[string]map[string]any{
		"G15 wrong iss":            {"iss": "https://evil.example"},
		"G15 iss with a slash":     {"iss": g.ID + "/"},
		"G15 iss in another case":  {"iss": strings.ToUpper(g.ID)},
		"G15 iss missing":          {"iss": absent{}},
		"G15 iss a list":           {"iss": []string{g.ID}},
		"G15 wrong aud":            {"aud": "https://other.example"},
		"G15 aud with a slash":     {"aud": audience + "/"},
		"G15 aud a part":           {"aud": audience[:len(audience)-1]},
		"G15 aud missing":          {"aud": absent{}},
		"G15 aud empty":            {"aud": ""},
		"G15 aud an empty list":    {"aud": []string{}},
		"G15 aud a list of others": {"aud": []string{"https://other.example", g.ID}},
		"G15 aud a list of lists":  {"aud": []any{[]string{audience}}},
		"G16 exp missing":          {"exp": absent{}},
		"G16 exp a text":           {"exp": "9999999999"},
		"G16 exp too large":        {"exp": json.RawMessage("1e400")},
		"G16 exp beyond time":      {"exp": json.RawMessage("1e18")},
		"G16 exp negative":         {"exp": -now},
		"G16 exp null":             {"exp": nil},
		"G16 exp over":             {"exp": now - 1},
		"G16 nbf in two minutes":   {"nbf": now + 120},
		"G16 iat in two minutes":   {"iat": now + 120},
		"a client that is unknown": {"client_id": "nobody"},
		"sub missing":              {"sub": absent{}},
		"sub empty":                {"sub": ""},
		"client_id missing":        {"client_id": absent{}},
		"jti missing":              {"jti": absent{}},
		"scope a list":             {"scope": []string{"read"}},
	} {
		forged[name] = f.token(changes)
	}
	bad := f.token(map[string]any{"exp": now - 10})
	forged["expired with a bad signature"] = bad[:len(bad)-6] + "AAAAAA"
	forged["claims that are no object"] = f.sign(f.header(nil), "[]")
	forged["claims that are no JSON"] = f.sign(f.header(nil), "{")
	refusedTokens(t, g, up, forged)
	for name, changes := range map[string]map[string]any{
		"G15 aud a list with ours": {"aud": []string{"https://other.example", audience}},
		"G16 exp with a fraction":  {"exp": float64(now) + 600.5},
		"G16 nbf in 8 seconds":     {"nbf": now + 8},
		"G16 iat in 8 seconds":     {"iat": now + 8},
		"an unknown claim":         {"admin": true},
	} {
		t.Run(name, func(t *testing.T) {
			if p := bearer(t, g, "/read", f.token(changes)); p.Status != http.StatusOK {
				t.Errorf("%d %s", p.Status, p.Body)
			}
			wantHits(t, up, 1)
		})
	}
	t.Run("G21 a cached token ends with its life", func(t *testing.T) {
		end := time.Now().Add(2 * time.Second).Truncate(time.Second)
		token := f.token(map[string]any{"exp": end.Unix()})
		if p := bearer(t, g, "/read", token); p.Status != http.StatusOK {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		wantHits(t, up, 1)
		time.Sleep(time.Until(end.Add(5 * time.Millisecond)))
		wantChallenge(t, bearer(t, g, "/read", token), up, http.StatusUnauthorized, "invalid_token")
	})
}

// G22: what one route found out about a token is not what another asks.
func TestTokenForOneAudienceIsInvalidForAnother(t *testing.T) {
	port := harness.FreePorts(t, 1)[0]
	second := fmt.Sprintf(`http://localhost:%d {
	api_errors
	oauth_guard {
		audience https://b.example
		scope read GET /read
		scope admin GET /admin
	}
	reverse_proxy $UPSTREAM
}
`, port)
	t.Setenv("GATEHOUSE_TEST_SECRET", masterSecret)
	g, up := startSite(t, site+second)
	b := *g
	b.API = fmt.Sprintf("http://localhost:%d", port)
	access, _ := tokens(t, g, web)
	for range 3 {
		if p := g.Call(t, http.MethodGet, "/read", access); p.Status != http.StatusOK {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		wantHits(t, up, 1)
		wantChallenge(t, b.Call(t, http.MethodGet, "/read", access), up, http.StatusUnauthorized, "invalid_token")
		wantChallenge(t, b.Call(t, http.MethodGet, "/admin", access), up, http.StatusUnauthorized, "invalid_token")
		wantChallenge(t, g.Call(t, http.MethodGet, "/admin", access), up, http.StatusForbidden, "insufficient_scope")
	}
}
