package grant

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestRedirectURIMayBeOmittedOnlyWithPKCE(t *testing.T) {
	const registered = "https://client.example/cb"
	challenge := oauth.Challenge(strings.Repeat("a", 43))
	for name, tc := range map[string]struct {
		code store.Code
		sent string
		want error
	}{
		"the same":                    {store.Code{RedirectURI: registered}, registered, nil},
		"the same with PKCE":          {store.Code{RedirectURI: registered, Challenge: challenge}, registered, nil},
		"absent with PKCE":            {store.Code{RedirectURI: registered, Challenge: challenge}, "", nil},
		"absent without PKCE":         {store.Code{RedirectURI: registered}, "", errNoRedirect},
		"another":                     {store.Code{RedirectURI: registered}, registered + "/", errRedirect},
		"another with PKCE":           {store.Code{RedirectURI: registered, Challenge: challenge}, registered + "/", errRedirect},
		"sent though the code has no": {store.Code{Challenge: challenge}, registered, errRedirect},
		"neither":                     {store.Code{}, "", nil},
	} {
		// A nil *Refusal in an error would not be nil.
		if got := checkRedirect(tc.code, tc.sent); got != tc.want { //nolint:errorlint // the very value
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// git-credential-oauth 0.4.2 sends verifiers that match their challenge, but have characters that RFC 7636 does not allow.
func TestRefusedVerifierIsToldWhy(t *testing.T) { // C07
	right := strings.Repeat("a", 43)
	malformed := "/" + strings.Repeat("a", 42) + "="
	for name, tc := range map[string]struct {
		challenge, sent string
		want            error
	}{
		"right":                             {oauth.Challenge(right), right, nil},
		"neither":                           {"", "", nil},
		"missing":                           {oauth.Challenge(right), "", errNoVerifier},
		"without a challenge":               {"", right, errUnaskedVerifier},
		"another":                           {oauth.Challenge(right), strings.Repeat("b", 43), errVerifier},
		"malformed, matches its challenge":  {oauth.Challenge(malformed), malformed, errVerifierForm},
		"malformed, does not match":         {oauth.Challenge(right), malformed, errVerifierForm},
		"too short":                         {oauth.Challenge(right[1:]), right[1:], errVerifierForm},
		"malformed and without a challenge": {"", malformed, errUnaskedVerifier},
	} {
		if got := checkVerifier(store.Code{Challenge: tc.challenge}, tc.sent); got != tc.want { //nolint:errorlint // the very value
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
