package doctor

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/gatehouse/gatehouse/module/internal/cli/doctor/sites"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

type matcherSets = []map[string]json.RawMessage

// matchesPath reports whether matchers look at the path.
func matchesPath(sets matcherSets) bool {
	return anyMatcher(sets, func(name string, raw json.RawMessage) bool {
		switch name {
		case "path", "path_regexp", "file", "url_pattern":
			return true
		case "expression", "vars", "vars_regexp":
			text := strings.ReplaceAll(string(raw), "uri.query", "")
			return strings.Contains(text, "path") || strings.Contains(text, "uri") || strings.Contains(text, "file(") || strings.Contains(text, "matchers.file") || strings.Contains(text, "url_pattern(")
		case "not":
			return matchesPath(inverted(raw))
		}
		return false
	})
}

// matchesChoice reports whether matchers look at what a client chooses. The method is not counted, because rules name it, too; neither
// are preflights, which do nothing, and matchers of hosts, which are followed apart.
func matchesChoice(sets matcherSets) bool {
	others := slices.DeleteFunc(slices.Clone(sets), func(set map[string]json.RawMessage) bool { return string(set["method"]) == `["OPTIONS"]` })
	return anyMatcher(others, func(name string, raw json.RawMessage) bool {
		switch name {
		case "host", "method", "remote_ip", "client_ip", scopeMatcher:
			return false
		case "expression":
			return choiceInExpression(raw)
		case "vars", "vars_regexp":
			return choiceInVariables(raw)
		case "not":
			not := inverted(raw)
			return matchesChoice(not) || slices.ContainsFunc(not, func(set map[string]json.RawMessage) bool { return set[scopeMatcher] != nil })
		}
		return !hasSecret(raw)
	})
}

// choicesOf returns matchesChoice for a server: certificates of clients that nobody verifies are their choice, too.
func choicesOf(s explain.Server) func(matcherSets) bool {
	if !slices.ContainsFunc(s.ConnectionPolicies, unverified) {
		return matchesChoice
	}
	return func(sets matcherSets) bool {
		return matchesChoice(sets) || anyMatcher(sets, func(_ string, raw json.RawMessage) bool { return strings.Contains(string(raw), "request.tls.client.") })
	}
}

// unverified reports whether clients may present any certificate.
func unverified(policy *caddytls.ConnectionPolicy) bool {
	c := policy.ClientAuthentication
	//lint:ignore SA1019 configurations still have it
	if c == nil || len(c.VerifiersRaw) > 0 || len(c.TrustedLeafCerts) > 0 {
		return false
	}
	//lint:ignore SA1019 configurations still have these
	trusted := c.CARaw != nil || len(c.TrustedCACerts) > 0 || len(c.TrustedCACertPEMFiles) > 0
	return c.Mode == "request" || c.Mode == "require" || c.Mode == "" && !trusted
}

// hasSecret reports whether a matcher compares with a secret that few know.
func hasSecret(raw json.RawMessage) bool {
	return strings.Contains(string(raw), "{env.") || strings.Contains(string(raw), "{file.")
}

// matchesAddress reports whether matchers let some addresses of clients through only.
func matchesAddress(sets matcherSets) bool {
	return anyMatcher(sets, func(name string, _ json.RawMessage) bool { return name == "remote_ip" || name == "client_ip" })
}

// anyMatcher reports whether a matcher of the sets is so.
func anyMatcher(sets matcherSets, is func(name string, raw json.RawMessage) bool) bool {
	return slices.ContainsFunc(sets, func(set map[string]json.RawMessage) bool {
		for name, raw := range set {
			if is(name, raw) {
				return true
			}
		}
		return false
	})
}

// inverted returns the matchers in a `not`, none if they cannot be read.
func inverted(raw json.RawMessage) (sets matcherSets) {
	_ = json.Unmarshal(raw, &sets)
	return sets
}

var (
	quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)
	named  = regexp.MustCompile(`[A-Za-z_][\w.]*`)
	// given are what an expression may name that clients do not choose: matchers, placeholders, and functions of texts. The host is not
	// among them, and neither is what a client says when it connects, such as the name of a server: it may say another.
	given = regexp.MustCompile(`^(?:method|remote_ip|client_ip|in|true|false|startsWith|endsWith|contains|matches|lowerAscii|size|` +
		`http\.request\.(?:method|remote.*|local.*|tls\.client.*|client_ip)|client_ip|http\.vars\.client_ip)$`)
)

// choiceInExpression reports whether an expression names what a client chooses.
func choiceInExpression(raw json.RawMessage) bool {
	text, _ := sites.Expression(raw)
	return slices.ContainsFunc(named.FindAllString(quoted.ReplaceAllString(text, ""), -1), func(name string) bool {
		return !given.MatchString(strings.TrimPrefix(name, "."))
	})
}

// choiceInVariables reports whether a matcher of variables names what a client chooses.
func choiceInVariables(raw json.RawMessage) bool {
	var variables map[string]json.RawMessage
	_ = json.Unmarshal(raw, &variables) // what cannot be read names nothing
	for name, value := range variables {
		if !given.MatchString(strings.Trim(name, "{}")) && !hasSecret(value) {
			return true
		}
	}
	return false
}
