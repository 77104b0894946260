package gateway

import (
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/clientassertion"
	"github.com/gatehouse/gatehouse/module/internal/loadedfiles"
)

// InlineJWKS reports whether a configured value is itself a key set: a JSON object, and
// neither a path nor a placeholder, which begins with a brace, too.
func InlineJWKS(s string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), "{")
	rest = strings.TrimSpace(rest)
	return ok && (strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "}"))
}

// loadJWKS returns the key set for a configured value, "" for none, and adds its file to files. Its errors
// contain the configured text, not the values of placeholders.
func loadJWKS(configured string, repl *caddy.Replacer, files loadedfiles.Files) (string, error) {
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
		files.Add(value)
		value, err = clientassertion.ReadKeys(value)
	}
	if err == nil {
		err = CheckJWKS(value)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", configured, err)
	}
	return value, nil
}

// CheckJWKS reports what is wrong with a client's key set.
func CheckJWKS(s string) error {
	_, err := clientassertion.ParseKeys(s)
	return err
}
