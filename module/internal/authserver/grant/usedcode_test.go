package grant

import (
	"errors"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// codeRecordLife is longer than the records of codes that storeCode stores.
const codeRecordLife = codeLife + 2*time.Hour

// A replay weeks later finds no record of the code, and ends the grant all the same.
func TestUsedCodeIsKnownByItsGrantAlone(t *testing.T) { // R05
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(time.Now)
		n := newCodeNode(t, m, newKeys(t, "k"))
		code, family := issueCode(t, m)
		issued, err := m.Get(t.Context(), codeKey(code))
		if err != nil {
			t.Fatal(err)
		}
		if err := n.exchange(t.Context(), code); err != nil {
			t.Fatal(err)
		}
		if used, err := m.Get(t.Context(), codeKey(code)); err != nil || !used.Expires.Equal(issued.Expires) {
			t.Errorf("the use of the code moved the end of its record from %v to %v, %v", issued.Expires, used.Expires, err)
		}
		time.Sleep(codeRecordLife)
		if _, err := m.Get(t.Context(), codeKey(code)); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("the code has a record still: %v", err)
		}
		n.link.become(func(string) (fault, time.Duration, time.Duration) { return lostRequest, 0, 0 })
		if err := n.exchange(t.Context(), code); err == nil || why(err) != "" {
			t.Errorf("while the store is away: %v", err)
		}
		n.link.become(func(string) (fault, time.Duration, time.Duration) { return works, 0, 0 })
		if revoked(t, m, family) {
			t.Fatal("the grant is dead before the replay")
		}
		if err := n.exchange(t.Context(), code); why(err) != Used || !revoked(t, m, family) {
			t.Errorf("a replay: %v", err)
		}
		if err := n.exchange(t.Context(), secret.Token()); why(err) != Unknown {
			t.Errorf("a code that never was: %v", err)
		}
	})
}

// Whoever has only seen the code ends nothing, whether the code still has a record or not.
func TestOnlyTheRedeemerCanReplayACode(t *testing.T) { // R05
	const redirect, verifier = "https://client.example/cb", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(time.Now)
		n := newCodeNode(t, m, newKeys(t, "k"))
		variantB := newCodes(n.Families, store.DialectVariantB, store.DialectVariantB)
		device := newCodes(n.Families, store.DialectDevice, store.DialectOAuth)
		code := secret.Token()
		family := store.GrantOf(store.DialectOAuth, secret.Digest(code))
		storeCode(t, m, code, "", store.Code{Grant: family, RedirectURI: redirect, Challenge: oauth.Challenge(verifier)})
		present := func(c *codes, client, redirect, verifier string) error {
			form, err := httpx.ParseForm(url.Values{"code": {code}, "redirect_uri": {redirect}, "code_verifier": {verifier}}.Encode())
			if err != nil {
				t.Fatal(err)
			}
			r := Request{Form: form, Client: &oauth.Client{
				ID: client, Scopes: []string{"read"}, Grants: []oauth.GrantType{oauth.RefreshToken}, RedirectURIs: []string{redirect},
			}}
			p, err := c.prepareCode(t.Context(), r, code, func(code store.Code) error { return checkRedirect(code, redirect) })
			if err == nil {
				_, err = p.Commit(t.Context())
			}
			return err
		}
		if err := present(&n.codes, "c", redirect, verifier); err != nil {
			t.Fatal(err)
		}
		for _, when := range []string{"while the code has a record", "afterwards"} {
			for name, err := range map[string]error{
				"another client":            present(&n.codes, "d", redirect, verifier),
				"with another redirect":     present(&n.codes, "c", "https://other.example/cb", verifier),
				"with another verifier":     present(&n.codes, "c", redirect, verifier+"x"),
				"without a verifier":        present(&n.codes, "c", redirect, ""),
				"as a code of Variant B":    present(&variantB, "c", redirect, verifier),
				"as the code of a device":   present(&device, "c", redirect, verifier),
				"another client, Variant B": present(&variantB, "d", redirect, verifier),
			} {
				if err == nil || why(err) == Used || revoked(t, m, family) {
					t.Fatalf("%s, %s: %v", when, name, err)
				}
			}
			time.Sleep(codeRecordLife)
		}
		if err := present(&n.codes, "c", redirect, verifier); why(err) != Used || !revoked(t, m, family) {
			t.Errorf("its redeemer: %v", err)
		}
	})
}

// Codes that an earlier release issued have a grant of any name: only their own records remember them.
func TestLegacyCodeIsKeptAsLongAsItsGrant(t *testing.T) { // R05
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(time.Now)
		n := newCodeNode(t, m, newKeys(t, "k"))
		code, family := secret.Token(), secret.ID()
		storeCode(t, m, code, "u", store.Code{Grant: family})
		if err := n.exchange(t.Context(), code); err != nil {
			t.Fatal(err)
		}
		time.Sleep(codeRecordLife)
		if revoked(t, m, family) {
			t.Fatal("the grant is dead before the replay")
		}
		if err := n.exchange(t.Context(), code); why(err) != Used || !revoked(t, m, family) {
			t.Errorf("a replay: %v", err)
		}
		record, err := m.Get(t.Context(), codeKey(code))
		if err != nil || record.Expires.After(time.Now().Add(deadKept)) {
			t.Errorf("the code of a dead grant expires at %v, %v", record.Expires, err)
		}
	})
}
