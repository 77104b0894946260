package doctor

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

type matcherSets = []map[string]json.RawMessage

// matchesPath reports whether matchers look at the path.
func matchesPath(sets matcherSets) bool {
	return anyMatcher(sets, func(name string, raw json.RawMessage) bool {
		switch name {
		case "path", "path_regexp", "file":
			return true
		case "expression", "vars", "vars_regexp":
			text := strings.ReplaceAll(string(raw), "uri.query", "")
			return strings.Contains(text, "path") || strings.Contains(text, "uri") || strings.Contains(text, "file(")
		case "not":
			return matchesPath(inverted(raw))
		}
		return false
	})
}

// matchesChoice reports whether matchers look at what a client chooses. The method is not counted, because rules name it, too; neither
// are preflights, which do nothing.
func matchesChoice(sets matcherSets) bool {
	others := slices.DeleteFunc(slices.Clone(sets), func(set map[string]json.RawMessage) bool { return string(set["method"]) == `["OPTIONS"]` })
	return anyMatcher(others, func(name string, raw json.RawMessage) bool {
		switch name {
		case "host", "method", "protocol", "remote_ip", "client_ip", scopeMatcher:
			return false
		case "expression":
			return choiceInExpression(raw)
		case "not":
			not := inverted(raw)
			return matchesChoice(not) || slices.ContainsFunc(not, func(set map[string]json.RawMessage) bool { return set[scopeMatcher] != nil })
		}
		return !strings.Contains(string(raw), "{env.") && !strings.Contains(string(raw), "{file.") // a secret that few know
	})
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
	// given are what an expression may name that clients do not choose: matchers, placeholders, and functions of texts.
	given = regexp.MustCompile(`^(?:host|method|protocol|remote_ip|client_ip|in|true|false|startsWith|endsWith|contains|matches|lowerAscii|size|` +
		`http\.request\.(?:method|host|hostport|host\.labels.*|port|scheme|proto|remote.*|local.*|tls.*|client_ip)|client_ip|http\.vars\.client_ip)$`)
)

// choiceInExpression reports whether an expression names what a client chooses.
func choiceInExpression(raw json.RawMessage) bool {
	var text string
	var expression struct {
		Expr string `json:"expr"`
	}
	if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &expression) == nil {
		text = expression.Expr
	}
	return slices.ContainsFunc(named.FindAllString(quoted.ReplaceAllString(text, ""), -1), func(name string) bool {
		return !given.MatchString(strings.TrimPrefix(name, "."))
	})
}
