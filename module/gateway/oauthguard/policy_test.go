package oauthguard

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/guard"
)

// N01: nothing that answers 2xx without a rule goes with decision_only, in JSON either.
func TestDecisionOnlyGuardRefusesPermissiveOptions(t *testing.T) {
	for want, g := range map[string]Guard{
		"no cors":        {DecisionOnly: true, CORS: []string{"*"}},
		"no cors beside": {DecisionOnly: true, CORSUpstream: true},
		"no shadow":      {DecisionOnly: true, Shadow: true},
	} {
		if _, err := g.Policy(guard.Config{Issuer: "https://id.example", Audience: "https://api.example"}); err == nil || !strings.Contains(err.Error(), "decision_only: expected "+want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := (&Guard{DecisionOnly: true}).Policy(guard.Config{Issuer: "https://id.example", Audience: "https://api.example"}); err != nil {
		t.Error(err)
	}
}
