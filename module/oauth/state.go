package oauth

import "slices"

// StateRule says when an authorization request must carry state. The parameter lets the client recognize its own
// request: without it, or an equivalent, a forged response signs its user in as somebody else (RFC 9700 section 4.7).
type StateRule string

// The rules.
const (
	StateAlways StateRule = "always"
	// StateUnlessPKCEOrNonce permits requests without state if the response is bound to the
	// request in another way: by an S256 code_challenge, or by a nonce that an id_token returns.
	StateUnlessPKCEOrNonce StateRule = "unless_pkce_or_nonce"
	// StateNever is for Variant B, whose libraries have neither PKCE nor nonce.
	StateNever StateRule = "never"
)

// StateRules lists the rules; only the first two apply to all clients.
var StateRules = []StateRule{StateAlways, StateUnlessPKCEOrNonce, StateNever}

// stateAlias is the former name of [StateUnlessPKCEOrNonce].
const stateAlias = "with_pkce_optional"

// NamedStateRule is the rule with this name or former name. ok is false for an unknown name, which
// is returned unchanged; "" is the absent rule.
func NamedStateRule(word string) (rule StateRule, ok bool) {
	if word == stateAlias {
		return StateUnlessPKCEOrNonce, true
	}
	return StateRule(word), word == "" || slices.Contains(StateRules, StateRule(word))
}

// StateRuleOf is the rule for a client, whose own setting takes precedence over general, the one
// for all. Without either it is StateAlways, except for clients that registered themselves, which
// are stock programs that the operator cannot configure.
func StateRuleOf(c *Client, general StateRule) StateRule {
	switch {
	case c.RequireState != "":
		return c.RequireState
	case general != "":
		return general
	case c.SelfRegistered:
		return StateUnlessPKCEOrNonce
	}
	return StateAlways
}

// Demands reports whether a request must carry state. bound says that PKCE, or a nonce that
// will be checked, binds the response to the request.
func (r StateRule) Demands(bound bool) bool {
	switch r {
	case StateNever:
		return false
	case StateUnlessPKCEOrNonce:
		return !bound
	}
	return true
}
