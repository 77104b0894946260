package secret

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func keys(t *testing.T, secrets ...string) *Keys {
	t.Helper()
	var raw [][]byte
	for _, s := range secrets {
		raw = append(raw, []byte(s))
	}
	k, err := NewKeys(raw...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

var (
	first  = strings.Repeat("a", 32)
	second = strings.Repeat("b", 32)
)

func TestShortOrMissingSecretsAreRefused(t *testing.T) {
	for _, secrets := range [][][]byte{nil, {[]byte("short")}, {[]byte(first), []byte(first[1:])}} {
		if _, err := NewKeys(secrets...); err == nil {
			t.Errorf("NewKeys(%q) gave no error", secrets)
		}
	}
}

func TestSealedValuesOpenOnlyForTheirPurposeAndBinding(t *testing.T) {
	k := keys(t, first)
	sealed := k.Seal("request", []byte("plain"), []byte("cookie"))
	got, err := k.Open("request", sealed, []byte("cookie"))
	if err != nil || !bytes.Equal(got, []byte("plain")) {
		t.Fatalf("Open = %q, %v", got, err)
	}
	cases := map[string]struct{ use, sealed, bound string }{
		"another purpose": {"code", sealed, "cookie"},
		"another cookie":  {"request", sealed, "other"},
		"one bit changed": {"request", "A" + sealed[1:], "cookie"},
		"cut short":       {"request", sealed[:len(sealed)-4], "cookie"},
		"empty":           {"request", "", "cookie"},
		"not base64":      {"request", "!!", "cookie"},
		"trailing line":   {"request", sealed + "\n", "cookie"},
	}
	for name, c := range cases {
		if strings.HasPrefix(sealed, "A") && name == "one bit changed" {
			c.sealed = "B" + sealed[1:]
		}
		if _, err := k.Open(c.use, c.sealed, []byte(c.bound)); !errors.Is(err, ErrForged) {
			t.Errorf("%s: %v, want ErrForged", name, err)
		}
	}
}

func TestFirstSecretSealsAndAllOpen(t *testing.T) {
	old, both, fresh := keys(t, first), keys(t, second, first), keys(t, second)
	sealed, mac := old.Seal("x", []byte("v"), nil), old.MAC("x", []byte("v"))
	if _, err := both.Open("x", sealed, nil); err != nil {
		t.Error("after rotation, what the old secret sealed must open:", err)
	}
	if !both.CheckMAC("x", mac, []byte("v")) {
		t.Error("after rotation, the old secret's MAC must hold")
	}
	if _, err := fresh.Open("x", both.Seal("x", nil, nil), nil); err != nil {
		t.Error("the first secret must be the one that makes:", err)
	}
	if fresh.CheckMAC("x", mac, []byte("v")) {
		t.Error("a removed secret must no longer check")
	}
}

func TestMACSeparatesItsParts(t *testing.T) {
	k := keys(t, first)
	if bytes.Equal(k.MAC("x", []byte("ab"), []byte("c")), k.MAC("x", []byte("a"), []byte("bc"))) {
		t.Error("moving a byte between parts must change the MAC")
	}
	if k.CheckMAC("y", k.MAC("x", []byte("v")), []byte("v")) {
		t.Error("a MAC must not hold for another purpose")
	}
}

func TestTokensAreUnique(t *testing.T) {
	seen := make(map[string]bool)
	for range 10000 {
		tok := Token()
		if len(tok) != 43 || seen[tok] {
			t.Fatalf("token %q repeats or has the wrong length", tok)
		}
		seen[tok] = true
	}
}

func TestDeterministicSealingDiffersByInput(t *testing.T) {
	k := keys(t, first)
	sealed := k.SealRepeatable("cursor", []byte("plain"), []byte("caller"))
	if k.SealRepeatable("cursor", []byte("plain"), []byte("caller")) != sealed || keys(t, first, second).SealRepeatable("cursor", []byte("plain"), []byte("caller")) != sealed {
		t.Error("the same input is sealed differently")
	}
	if got, err := k.Open("cursor", sealed, []byte("caller")); err != nil || string(got) != "plain" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := keys(t, second, first).Open("cursor", sealed, []byte("caller")); err != nil || string(got) != "plain" {
		t.Errorf("after a rotation: %q, %v", got, err)
	}
	if _, err := k.Open("cursor", sealed, []byte("other")); !errors.Is(err, ErrForged) {
		t.Error(err)
	}
	if _, err := k.Open("request", sealed, []byte("caller")); !errors.Is(err, ErrForged) {
		t.Error(err)
	}
	// A nonce that two different values share would undo the encryption of both. It is the first
	// 12 bytes, which are the first 16 characters.
	nonces := map[string]string{sealed[:16]: "the value itself"}
	for name, other := range map[string]string{
		"another plain":                k.SealRepeatable("cursor", []byte("plaim"), []byte("caller")),
		"another bound":                k.SealRepeatable("cursor", []byte("plain"), []byte("other")),
		"the same bytes cut elsewhere": k.SealRepeatable("cursor", []byte("lain"), []byte("callerp")),
		"another purpose":              k.SealRepeatable("request", []byte("plain"), []byte("caller")),
		"another secret":               keys(t, second).SealRepeatable("cursor", []byte("plain"), []byte("caller")),
	} {
		if same, ok := nonces[other[:16]]; ok {
			t.Errorf("%s has the nonce of %s", name, same)
		}
		nonces[other[:16]] = name
	}
}
