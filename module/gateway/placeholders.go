package gateway

import (
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// Placeholder reports whether a text contains a placeholder, which is replaced when the
// configuration is loaded.
func Placeholder(s string) bool {
	_, rest, opened := strings.Cut(s, "{")
	return opened && strings.Contains(rest, "}")
}

// refuseLiteral refuses a secret that is not a placeholder.
func refuseLiteral(s, example string) error {
	if Placeholder(s) {
		return nil
	}
	return fmt.Errorf("expected a placeholder such as %s: a literal would stand in the stored configuration", example)
}

// filled replaces the placeholders in a configured text. Its errors name the missing
// environment variable or file.
func filled(configured string, repl *caddy.Replacer) (string, error) {
	value, err := repl.ReplaceOrErr(configured, true, true)
	if err == nil {
		return value, nil
	}
	placeholder, alone := strings.CutSuffix(configured, "}")
	if !alone || strings.Count(configured, "{") != 1 {
		return "", err
	}
	if name, ok := strings.CutPrefix(placeholder, "{env."); ok {
		return "", fmt.Errorf("%s: the environment variable %s is not set, or is empty", configured, name)
	}
	if name, ok := strings.CutPrefix(placeholder, "{file."); ok {
		return "", fmt.Errorf("%s: the file %s cannot be read, or is empty", configured, name)
	}
	return "", err
}

func resolveSecrets(configured []string, repl *caddy.Replacer) ([][]byte, error) {
	var out [][]byte
	for i, s := range configured {
		value, err := filled(s, repl)
		if err != nil {
			return nil, fmt.Errorf("secret %d: %w", i+1, err)
		}
		if len(value) < secret.MinLength {
			return nil, fmt.Errorf("secret %d has %d bytes, at least %d are needed", i+1, len(value), secret.MinLength)
		}
		out = append(out, []byte(value))
	}
	return out, nil
}

// digestSecrets tells sets of secrets apart; it is "" for none.
func digestSecrets(secrets [][]byte) string {
	if len(secrets) == 0 {
		return ""
	}
	var all strings.Builder
	for _, s := range secrets {
		all.WriteString(secret.Digest(string(s)))
	}
	return secret.Digest(all.String())
}
