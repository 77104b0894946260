package gateway

import (
	"net/http"
	"testing"
)

// S03, N17: a refused registration names the member that is wrong.
func TestRefusedRegistrationNamesTheMember(t *testing.T) {
	g, _ := startRegistering(t, 10)
	for _, c := range []struct {
		member string
		value  any
	}{
		{"redirect_uris", []string{"http://plain.example/cb"}},
		{"post_logout_redirect_uris", []string{"javascript:x"}},
		{"grant_types", []string{"client_credentials"}},
		{"response_types", []string{"token"}},
		{"application_type", "tv"},
		{"client_name", "A\u202eB"},
		{"client_name", 7},
		{"scope", "admin"},
		{"scope", "a\"b"},
		{"token_endpoint_auth_method", "tls"},
		{"id_token_signed_response_alg", "none"},
		{"jwks_uri", "https://new.example/jwks"},
		{"registration_access_token", "x"},
	} {
		body := map[string]any{"redirect_uris": []string{"https://new.example/cb"}}
		body[c.member] = c.value
		p := call(t, http.MethodPost, g.ID+"/register", initialToken, body)
		if p.Status != http.StatusBadRequest || member(t, p, "field") != c.member {
			t.Errorf("%s %v: %d %s", c.member, c.value, p.Status, p.Body)
		}
	}
}
