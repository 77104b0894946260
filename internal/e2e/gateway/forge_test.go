package gateway

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// forger signs what the gateway never would, with its own key.
type forger struct {
	t      *testing.T
	kid    string
	alg    string
	public map[string]any // the published key
	signer crypto.Signer
	claims map[string]any
}

// newForger takes the signing key out of a gateway's store, and the claims out of an
// access token of alice's.
func newForger(t *testing.T, g *harness.Gateway, m *storetest.Memory) *forger {
	t.Helper()
	access, _ := tokens(t, g, web)
	record, err := m.Get(t.Context(), store.Key{Kind: store.KindKeyRing, ID: "signing"})
	if err != nil {
		t.Fatal(err)
	}
	var ring struct {
		Keys []struct{ Kid, Alg, Private string }
	}
	if err := json.Unmarshal(record.Value, &ring); err != nil {
		t.Fatal(err)
	}
	kid := signedBy(t, access)
	i := slices.IndexFunc(ring.Keys, func(k struct{ Kid, Alg, Private string }) bool { return k.Kid == kid })
	if i < 0 {
		t.Fatalf("the key %s is not in the ring", kid)
	}
	k := ring.Keys[i]
	der, err := gatewaytest.OpenSealed(masterSecret, "signing key", k.Private, []byte(k.Kid))
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		t.Fatal(err)
	}
	f := &forger{t: t, kid: k.Kid, alg: k.Alg, claims: claimsOf(t, access)}
	var ok bool
	if f.signer, ok = private.(crypto.Signer); !ok {
		t.Fatalf("a key of type %T", private)
	}
	if f.public = publishedKeys(t, g)[kid]; f.public == nil {
		t.Fatalf("the key %s is not published", kid)
	}
	return f
}

// signedBy is the kid of a token's header.
func signedBy(t *testing.T, token string) string {
	t.Helper()
	head, _, _ := strings.Cut(token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(head)
	var header struct{ Kid string }
	if err == nil {
		err = json.Unmarshal(raw, &header)
	}
	if err != nil {
		t.Fatal(err)
	}
	return header.Kid
}

// publishedKeys are those that relying parties are shown, by kid.
func publishedKeys(t *testing.T, g *harness.Gateway) map[string]map[string]any {
	t.Helper()
	_, body := harness.Get(t, g.ID+"/.well-known/jwks.json")
	var set struct{ Keys []map[string]any }
	if err := json.Unmarshal([]byte(body), &set); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	keys := make(map[string]map[string]any)
	for _, k := range set.Keys {
		kid, _ := k["kid"].(string)
		keys[kid] = k
	}
	return keys
}

func segment(t *testing.T, v any) string {
	t.Helper()
	if s, ok := v.(string); ok {
		return base64.RawURLEncoding.EncodeToString([]byte(s))
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// absent as the value of a member removes it.
type absent struct{}

func changed(m map[string]any, changes map[string]any) map[string]any {
	m = maps.Clone(m)
	for k, v := range changes {
		if v == (absent{}) {
			delete(m, k)
		} else {
			m[k] = v
		}
	}
	return m
}

// header is that of a genuine token, changed.
func (f *forger) header(changes map[string]any) map[string]any {
	return changed(map[string]any{"typ": "at+jwt", "alg": f.alg, "kid": f.kid}, changes)
}

// sign signs a header and claims (JSON text, or a value) with the gateway's key.
func (f *forger) sign(header, claims any) string {
	f.t.Helper()
	signed := segment(f.t, header) + "." + segment(f.t, claims)
	sum := sha256.Sum256([]byte(signed))
	var signature []byte
	var err error
	switch k := f.signer.(type) {
	case *ecdsa.PrivateKey:
		r, s, e := ecdsa.Sign(rand.Reader, k, sum[:])
		if e == nil {
			signature = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
		}
		err = e
	case *rsa.PrivateKey:
		signature, err = rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
	default:
		f.t.Fatalf("a key of type %T", k)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// token is a genuine token with changed claims.
func (f *forger) token(changes map[string]any) string {
	f.t.Helper()
	fresh := map[string]any{"jti": gatewaytest.ID(), "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	return f.sign(f.header(nil), changed(changed(f.claims, fresh), changes))
}

// claimsOf reads a token's claims.
func claimsOf(t *testing.T, access string) map[string]any {
	t.Helper()
	parts := strings.Split(access, ".")
	if len(parts) != 3 {
		t.Fatalf("no JWT: %s", access)
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}
