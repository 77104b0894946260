package rpc

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// Masked is what stands in a result in the place of a secret.
const Masked = "***"

// Mask is a result, which is valid JSON, with secrets in its texts and names masked.
func Mask(result json.RawMessage, secrets []string) json.RawMessage {
	if len(secrets) == 0 || !slices.ContainsFunc(secrets, func(s string) bool { return bytes.Contains(result, []byte(s)) }) && !bytes.Contains(result, []byte{'\\'}) {
		return result
	}
	secrets = slices.Clone(secrets) // one that begins as another does is masked as a whole
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var b []byte
	rest := result
	for {
		at := bytes.IndexByte(rest, '"')
		if at < 0 {
			return append(b, rest...)
		}
		end := at + endOfString([]byte(rest[at:]))
		b = append(append(b, rest[:at]...), masked(rest[at:end], secrets)...)
		rest = rest[end:]
	}
}

// masked is a JSON string without secrets.
func masked(literal json.RawMessage, secrets []string) json.RawMessage {
	text := string(literal[1 : len(literal)-1])
	if bytes.Contains(literal, []byte{'\\'}) && json.Unmarshal(literal, &text) != nil {
		return literal
	}
	found := false
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			text, found = strings.ReplaceAll(text, secret, Masked), true
		}
	}
	if !found {
		return literal
	}
	return splice.Quote(text)
}
