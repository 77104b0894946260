package authserver

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/authserver/clientauth"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// providerMetadata is RFC 8414 section 2, OpenID Connect Discovery section 3, RFC 9207
// section 3 and what strict clients read besides. Only what works is in it.
type providerMetadata struct {
	Issuer                string            `json:"issuer"`
	AuthorizationEndpoint string            `json:"authorization_endpoint"`
	TokenEndpoint         string            `json:"token_endpoint"`
	JWKSURI               string            `json:"jwks_uri"`
	RevocationEndpoint    string            `json:"revocation_endpoint"`
	IntrospectionEndpoint string            `json:"introspection_endpoint"`
	UserinfoEndpoint      string            `json:"userinfo_endpoint"`
	EndSessionEndpoint    string            `json:"end_session_endpoint"`
	Scopes                []string          `json:"scopes_supported,omitempty"`
	ResponseTypes         []string          `json:"response_types_supported"`
	ResponseModes         []string          `json:"response_modes_supported"`
	GrantTypes            []oauth.GrantType `json:"grant_types_supported"`
	SubjectTypes          []string          `json:"subject_types_supported"`
	TokenAuthMethods      []string          `json:"token_endpoint_auth_methods_supported"`
	TokenAuthAlgorithms   []string          `json:"token_endpoint_auth_signing_alg_values_supported"`
	RevokeAlgorithms      []string          `json:"revocation_endpoint_auth_signing_alg_values_supported"`
	IntrospectAlgorithms  []string          `json:"introspection_endpoint_auth_signing_alg_values_supported"`
	PushEndpoint          string            `json:"pushed_authorization_request_endpoint"`
	DeviceEndpoint        string            `json:"device_authorization_endpoint,omitempty"` // RFC 8628 section 4
	RegistrationEndpoint  string            `json:"registration_endpoint,omitempty"`
	RevokeAuthMethods     []string          `json:"revocation_endpoint_auth_methods_supported"`
	IntrospectAuthMethods []string          `json:"introspection_endpoint_auth_methods_supported"`
	ChallengeMethods      []string          `json:"code_challenge_methods_supported"`
	IDTokenAlgorithms     []string          `json:"id_token_signing_alg_values_supported"`
	UserinfoAlgorithms    []string          `json:"userinfo_signing_alg_values_supported"`
	ClaimTypes            []string          `json:"claim_types_supported"`
	Claims                []string          `json:"claims_supported"`
	UILocales             []string          `json:"ui_locales_supported,omitempty"`
	IssInResponse         bool              `json:"authorization_response_iss_parameter_supported"`
	ClaimsParameter       bool              `json:"claims_parameter_supported"`
	RequestParameter      bool              `json:"request_parameter_supported"`
	RequestURIParameter   bool              `json:"request_uri_parameter_supported"`
}

// discovery is the document in each of its forms, by the optional grant types that somebody
// may use: clients are made, and grants of the past come to an end, while the server runs.
type discovery map[string]document

// newDiscovery builds the documents once: nothing of a request can get into one.
func newDiscovery(s *Server) (discovery, error) {
	all := discovery{}
	sets := [][]oauth.GrantType{nil}
	for _, g := range oauth.OptionalGrantTypes {
		for _, set := range sets {
			sets = append(sets, append(slices.Clone(set), g))
		}
	}
	for _, optional := range sets {
		body, err := json.Marshal(s.provider(optional))
		if err != nil {
			return nil, err
		}
		all[discoveryKey(optional)] = document{body: body, etag: `"` + secret.Digest(string(body))[:32] + `"`}
	}
	return all, nil
}

func discoveryKey(optional []oauth.GrantType) string {
	key := ""
	for _, g := range oauth.OptionalGrantTypes {
		if slices.Contains(optional, g) {
			key += string(g) + " "
		}
	}
	return key
}

func (s *Server) provider(optional []oauth.GrantType) providerMetadata {
	scopes := slices.Clone(oauth.BuiltinScopes)
	for _, scope := range s.Scopes {
		if !scope.Hidden && !slices.Contains(scopes, scope.Name) {
			scopes = append(scopes, scope.Name)
		}
	}
	m := providerMetadata{
		Issuer:                s.issuer,
		AuthorizationEndpoint: s.url("/authorize"),
		TokenEndpoint:         s.url("/token"),
		JWKSURI:               s.url("/.well-known/jwks.json"),
		RevocationEndpoint:    s.url("/revoke"),
		IntrospectionEndpoint: s.url("/introspect"),
		UserinfoEndpoint:      s.url("/userinfo"),
		EndSessionEndpoint:    s.url("/logout"),
		Scopes:                scopes,
		ResponseTypes:         []string{"code"},
		ResponseModes:         []string{"query"},
		GrantTypes:            append(s.token.types(), optional...),
		SubjectTypes:          []string{"public"},
		TokenAuthMethods:      clientauth.Methods,
		TokenAuthAlgorithms:   token.AssertionAlgorithms,
		RevokeAlgorithms:      token.AssertionAlgorithms,
		IntrospectAlgorithms:  token.AssertionAlgorithms,
		PushEndpoint:          s.url("/par"),
		RevokeAuthMethods:     clientauth.Methods,
		IntrospectAuthMethods: confidential(clientauth.Methods),
		ChallengeMethods:      []string{"S256"},
		IDTokenAlgorithms:     s.Tokens.IDAlgorithms(),
		UserinfoAlgorithms:    s.Tokens.IDAlgorithms(),
		ClaimTypes:            []string{"normal"},
		Claims:                claimsSupported(scopes),
		UILocales:             s.Pages.Languages(),
		IssInResponse:         true,
	}
	if slices.Contains(optional, oauth.DeviceCode) {
		m.DeviceEndpoint = s.url("/device_authorization")
	}
	if slices.Contains(optional, oauth.Implicit) {
		m.ResponseTypes = append(m.ResponseTypes, "token")
		m.ResponseModes = append(m.ResponseModes, "fragment")
	}
	if s.Registration != nil {
		m.RegistrationEndpoint = s.url("/register")
	}
	return m
}

// metadata serves the same document at the addresses of RFC 8414 and OpenID Connect.
func (s *Server) metadata(w http.ResponseWriter, r *http.Request) {
	publish(w, r, s.discovery[discoveryKey(s.Clients.OptionalGrants())])
}

// confidential are the authentication methods that prove anything.
func confidential(methods []string) []string {
	return slices.DeleteFunc(slices.Clone(methods), func(m string) bool { return m == "none" })
}
