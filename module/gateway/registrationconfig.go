package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/authserver/registration"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// Registration lets clients register themselves (RFC 7591) with an initial access token.
type Registration struct {
	// Initial access tokens, at least 32 characters each, any of which permits a
	// registration. They must be placeholders such as `{env.REGISTRATION_TOKEN}`. Required.
	InitialTokens []string `json:"initial_tokens,omitempty"`
	// The scopes that registered clients may have at most. Default: none.
	Scopes []string `json:"scopes,omitempty"`
	// The audience of the tokens of registered clients that have none of their own. Default:
	// that of `tokens`.
	Audience []string `json:"audience,omitempty"`
	// How many registered clients there may be at one time. Default: 1000.
	Max int `json:"max,omitempty"`
}

// Check reports what is wrong with the settings, except for scopes.
func (r *Registration) Check() error {
	if len(r.InitialTokens) == 0 {
		return errors.New("expected an initial_token: without one anybody could register clients")
	}
	for i, t := range r.InitialTokens {
		if err := refuseLiteral(t, "{env.REGISTRATION_TOKEN}"); err != nil {
			return fmt.Errorf("initial_token %d: %w", i+1, err)
		}
	}
	if slices.Contains(r.Audience, "") {
		return errors.New("audience: expected one or more audiences, got an empty one")
	}
	if r.Max < 0 || r.Max > clientstore.MaxRegistered {
		return fmt.Errorf("max: got %d, expected a number from 1 to %d", r.Max, clientstore.MaxRegistered)
	}
	return nil
}

// build returns the rules for the authorization server, nil when clients cannot register.
func (r *Registration) build(repl *caddy.Replacer) (*registration.Rules, error) {
	if r == nil {
		return nil, nil
	}
	rules := &registration.Rules{Scopes: r.Scopes, Audience: r.Audience, Max: r.Max}
	for i, t := range r.InitialTokens {
		value, err := filled(t, repl)
		if err != nil {
			return nil, fmt.Errorf("registration: initial_token %d: %w", i+1, err)
		}
		if len(value) < MinClientSecret {
			return nil, fmt.Errorf("registration: initial_token %d has %d characters, at least %d are needed", i+1, len(value), MinClientSecret)
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == ',' }) {
			return nil, fmt.Errorf("registration: initial_token %d has characters that an Authorization header cannot carry", i+1)
		}
		rules.InitialTokens = append(rules.InitialTokens, secret.Digest(value))
	}
	return rules, nil
}

// most is how many clients may register.
func (r *Registration) most() int {
	if r == nil {
		return 0
	}
	return cmp.Or(r.Max, registration.DefaultMax)
}

// scopes are the most that registered clients may have. They are nil when none can register;
// those of the last configuration that allowed it apply then.
func (r *Registration) scopes() []string {
	if r == nil {
		return nil
	}
	return append([]string{}, r.Scopes...)
}
