package oauth

import "slices"

// StateRule says when an authorization request must carry state. The parameter lets the
// client recognize its own request: without it, or something as good, a forged answer signs
// its user in as somebody else (RFC 9700 section 4.7).
type StateRule string

// The rules.
const (
	StateAlways StateRule = "always"
	// StateUnlessPKCEOrNonce lets a request come without state whose answer is bound to it
	// in another way: by an S256 code_challenge, or by a nonce where an id_token brings it
	// back.
	StateUnlessPKCEOrNonce StateRule = "unless_pkce_or_nonce"
	// StateNever is for sites of Variant B, whose libraries have neither PKCE nor nonce.
	StateNever StateRule = "never"
)

// StateRules are the rules there are; only the first two apply to all clients.
var StateRules = []StateRule{StateAlways, StateUnlessPKCEOrNonce, StateNever}

// stateAlias is the word that [StateUnlessPKCEOrNonce] had before a nonce counted too.
const stateAlias = "with_pkce_optional"

// NamedStateRule reads a rule by its word, the old one included. ok is false for a word
// that names none, which then is the rule; "" is the rule "", which says nothing.
func NamedStateRule(word string) (rule StateRule, ok bool) {
	if word == stateAlias {
		return StateUnlessPKCEOrNonce, true
	}
	return StateRule(word), word == "" || slices.Contains(StateRules, StateRule(word))
}

// StateRuleOf is the rule for a client, whose own word takes precedence over general, that
// for all. Where neither says anything it is StateAlways, except for clients that registered
// themselves: those are stock programs that nobody here configures.
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
// will be checked, ties the answer to the request.
func (r StateRule) Demands(bound bool) bool {
	switch r {
	case StateNever:
		return false
	case StateUnlessPKCEOrNonce:
		return !bound
	}
	return true
}
