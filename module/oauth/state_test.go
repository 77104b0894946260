package oauth

import "testing"

func TestClientStateRule(t *testing.T) {
	for name, tc := range map[string]struct {
		client  Client
		general StateRule
		want    StateRule
	}{
		"nothing said":                     {Client{}, "", StateAlways},
		"nothing said, registered itself":  {Client{SelfRegistered: true}, "", StateUnlessPKCEOrNonce},
		"always for all":                   {Client{}, StateAlways, StateAlways},
		"always for all, registered":       {Client{SelfRegistered: true}, StateAlways, StateAlways},
		"unless for all":                   {Client{}, StateUnlessPKCEOrNonce, StateUnlessPKCEOrNonce},
		"the client's word before":         {Client{RequireState: StateAlways}, StateUnlessPKCEOrNonce, StateAlways},
		"the client's word behind":         {Client{RequireState: StateUnlessPKCEOrNonce}, StateAlways, StateUnlessPKCEOrNonce},
		"an operator's word on registered": {Client{SelfRegistered: true, RequireState: StateAlways}, "", StateAlways},
	} {
		if got := StateRuleOf(&tc.client, tc.general); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
	for _, tc := range []struct {
		rule  StateRule
		bound bool
		want  bool
	}{
		{StateAlways, false, true}, {StateAlways, true, true},
		{StateUnlessPKCEOrNonce, false, true}, {StateUnlessPKCEOrNonce, true, false},
		{StateNever, false, false}, {StateNever, true, false},
		{"of another version", false, true}, {"of another version", true, true},
	} {
		if got := tc.rule.Demands(tc.bound); got != tc.want {
			t.Errorf("%s with bound %v: %v", tc.rule, tc.bound, got)
		}
	}
}

func TestStateRulesAreParsed(t *testing.T) {
	for word, want := range map[string]StateRule{
		"": "", "always": StateAlways, "unless_pkce_or_nonce": StateUnlessPKCEOrNonce, "with_pkce_optional": StateUnlessPKCEOrNonce, "never": StateNever,
	} {
		if got, ok := NamedStateRule(word); !ok || got != want {
			t.Errorf("%q: %q %v", word, got, ok)
		}
	}
	if _, ok := NamedStateRule("Always"); ok {
		t.Error("Always is no word")
	}
}
