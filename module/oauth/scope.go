package oauth

import (
	"slices"
	"strings"
)

// Limits of a scope parameter: without them one request could have hundreds of thousands of names,
// each of which is compared with all others.
const (
	MaxScopeLength = 4096 // bytes
	MaxScopes      = 100
)

// BuiltinScopes need no declaration.
var BuiltinScopes = []string{"openid", "profile", "email", "offline_access"}

// ValidScope reports whether s is one scope-token of RFC 6749 section 3.3.
func ValidScope(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return s != ""
}

// ParseScopes splits a scope parameter at its spaces, in order and without
// repetitions. ok is false when it is too long or a name is malformed.
func ParseScopes(s string) (scopes []string, ok bool) {
	if len(s) > MaxScopeLength {
		return nil, false
	}
	for name := range strings.SplitSeq(s, " ") {
		if name == "" || slices.Contains(scopes, name) {
			continue
		}
		if !ValidScope(name) || len(scopes) == MaxScopes {
			return nil, false
		}
		scopes = append(scopes, name)
	}
	return scopes, true
}

// JoinScopes returns the parameter form.
func JoinScopes(scopes []string) string { return strings.Join(scopes, " ") }

// Subset reports whether large contains all of small.
func Subset(small, large []string) bool {
	for _, s := range small {
		if !slices.Contains(large, s) {
			return false
		}
	}
	return true
}
