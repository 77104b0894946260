package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/caddyauth"
)

func hashOf(t *testing.T, input string) (string, error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.WriteString(w, input)
		_ = w.Close()
	}()
	defer r.Close()
	var out strings.Builder
	err = hashPassword(r, &out, io.Discard)
	return strings.TrimSpace(out.String()), err
}

func TestPrintedHashMatchesThePassword(t *testing.T) {
	for _, input := range []string{"correct horse\n", "correct horse\r\n", "correct horse"} {
		hash, err := hashOf(t, input)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := caddyauth.Argon2idHash{}.Compare([]byte(hash), []byte("correct horse"))
		if err != nil || !ok {
			t.Errorf("%q: %s does not match: %v", input, hash, err)
		}
	}
	decomposed, err := hashOf(t, "cafe\u0301\n") // é in two code points
	if err != nil {
		t.Fatal(err)
	}
	if ok, _ := (caddyauth.Argon2idHash{}).Compare([]byte(decomposed), []byte("caf\u00e9")); !ok {
		t.Error("a password typed on another system must have the same hash")
	}
}

func TestUnusablePasswordsAreNotHashed(t *testing.T) {
	for name, input := range map[string]string{
		"nothing": "", "an empty line": "\n", "too long": strings.Repeat("x", 1025) + "\n", "NUL": "a\x00b\n", "not UTF-8": "\xff\n",
	} {
		if hash, err := hashOf(t, input); err == nil {
			t.Errorf("%s: hashed to %s", name, hash)
		}
	}
}
