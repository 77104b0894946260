package token

import (
	"testing"
	"time"
	"unsafe"
)

// For as long as the tokens of a replaced key live, tokens with two headers come at the same time. What one
// verification remembers of a header is read by others, so it must not change.
func TestRememberedHeaderNeverChanges(t *testing.T) {
	n := start(t, "EdDSA")
	other, err := NewIssuer(IssuerConfig{Ring: n.ring, Issuer: issuerName, Alg: "ES256", Now: n.now})
	if err != nil {
		t.Fatal(err)
	}
	verify := func(issuer *Issuer) {
		t.Helper()
		raw, err := issuer.Issue(t.Context(), n.access())
		if err == nil {
			_, err = n.verifier.Verify(t.Context(), raw)
		}
		if err != nil {
			t.Error(err)
		}
	}
	verify(n.issuer)
	known := n.verifier.header.Load()
	content := unsafe.StringData(known.encoded)

	raw := n.issue(t) // its header is the known one
	meanwhile := func() { verify(other) }
	n.ring.Now = func() time.Time { // asked for the key after the header was read
		if f := meanwhile; f != nil {
			meanwhile = nil
			f()
		}
		return n.now()
	}
	if _, err := n.verifier.Verify(t.Context(), raw); err != nil {
		t.Error(err)
	}
	if meanwhile != nil {
		t.Error("no other token came meanwhile")
	}
	if unsafe.StringData(known.encoded) != content {
		t.Error("a header that others may be reading was written to")
	}
}
