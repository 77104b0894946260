package gateway

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/token"
)

// maxJWKSFile bounds the file that is read, in bytes; a key set has its own bounds.
const maxJWKSFile = 64 << 10

// InlineJWKS reports whether a configured value is a key set itself: a JSON object, and
// neither a path nor a placeholder, which begins with a brace too.
func InlineJWKS(s string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), "{")
	rest = strings.TrimSpace(rest)
	return ok && (strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "}"))
}

// loadJWKS gives the key set that a configured value stands for, "" for none.
func loadJWKS(s string, repl *caddy.Replacer) (string, error) {
	if s == "" {
		return "", nil
	}
	if !InlineJWKS(s) {
		path, err := repl.ReplaceOrErr(s, true, true)
		if err != nil {
			return "", err
		}
		if s = path; !InlineJWKS(s) {
			if s, err = readJWKS(path); err != nil {
				return "", err
			}
		}
	}
	return s, CheckJWKS(s)
}

func readJWKS(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxJWKSFile+1))
	if err == nil && len(raw) > maxJWKSFile {
		err = fmt.Errorf("%s has more than %d bytes", path, maxJWKSFile)
	}
	return string(raw), err
}

// CheckJWKS reports what is wrong with a client's key set.
func CheckJWKS(s string) error {
	_, err := token.ParseClientKeys(s)
	return err
}
