package gateway

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/clientassertion"
)

// maxJWKSFile is the longest file that is read, in bytes. Longer sets are refused anyway.
const maxJWKSFile = 32 << 10

// InlineJWKS reports whether a configured value is itself a key set: a JSON object, and
// neither a path nor a placeholder, which begins with a brace, too.
func InlineJWKS(s string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), "{")
	rest = strings.TrimSpace(rest)
	return ok && (strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "}"))
}

// loadJWKS returns the key set for a configured value, "" for none. Its errors contain the
// configured text, not the values of placeholders.
func loadJWKS(configured string, repl *caddy.Replacer) (string, error) {
	if configured == "" {
		return "", nil
	}
	if InlineJWKS(configured) {
		return configured, CheckJWKS(configured)
	}
	value, err := filled(configured, repl)
	if err != nil {
		return "", err
	}
	if !InlineJWKS(value) {
		value, err = ReadJWKS(value)
	}
	if err == nil {
		err = CheckJWKS(value)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", configured, err)
	}
	return value, nil
}

// ReadJWKS reads the file of a key set. Its errors do not name the file.
func ReadJWKS(path string) (string, error) {
	f, err := os.Open(path)
	if pathErr := new(os.PathError); errors.As(err, &pathErr) {
		return "", pathErr.Err
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxJWKSFile+1))
	if err == nil && len(raw) > maxJWKSFile {
		err = fmt.Errorf("the file has more than %d bytes", maxJWKSFile)
	}
	return string(raw), err
}

// CheckJWKS reports what is wrong with a client's key set.
func CheckJWKS(s string) error {
	_, err := clientassertion.ParseKeys(s)
	return err
}
