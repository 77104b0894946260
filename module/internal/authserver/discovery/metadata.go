package discovery

import (
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/authserver/clientauth"
	"github.com/gatehouse/gatehouse/module/internal/authserver/userclaims"
	"github.com/gatehouse/gatehouse/module/internal/clientassertion"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// providerMetadata is RFC 8414 section 2, OpenID Connect Discovery section 3, RFC 9207 section 3 and what strict
// clients read besides. Only what works is in it.
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

func setKey(optional []oauth.GrantType) string {
	key := ""
	for _, g := range oauth.OptionalGrantTypes {
		if slices.Contains(optional, g) {
			key += string(g) + " "
		}
	}
	return key
}

func (d *Documents) provider(optional []oauth.GrantType) providerMetadata {
	scopes := slices.Clone(oauth.BuiltinScopes)
	for _, scope := range d.Scopes {
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	m := providerMetadata{
		Issuer:                d.Issuer,
		AuthorizationEndpoint: d.url("/authorize"),
		TokenEndpoint:         d.url("/token"),
		JWKSURI:               d.url("/.well-known/jwks.json"),
		RevocationEndpoint:    d.url("/revoke"),
		IntrospectionEndpoint: d.url("/introspect"),
		UserinfoEndpoint:      d.url("/userinfo"),
		EndSessionEndpoint:    d.url("/logout"),
		Scopes:                scopes,
		ResponseTypes:         []string{"code"},
		ResponseModes:         []string{"query"},
		GrantTypes:            append(slices.Clone(d.GrantTypes), optional...),
		SubjectTypes:          []string{"public"},
		TokenAuthMethods:      clientauth.Methods,
		TokenAuthAlgorithms:   clientassertion.Algorithms,
		RevokeAlgorithms:      clientassertion.Algorithms,
		IntrospectAlgorithms:  clientassertion.Algorithms,
		PushEndpoint:          d.url("/par"),
		RevokeAuthMethods:     clientauth.Methods,
		IntrospectAuthMethods: confidential(clientauth.Methods),
		ChallengeMethods:      []string{"S256"},
		IDTokenAlgorithms:     d.IDAlgorithms,
		UserinfoAlgorithms:    d.IDAlgorithms,
		ClaimTypes:            []string{"normal"},
		Claims:                userclaims.Supported(scopes),
		UILocales:             d.Languages,
		IssInResponse:         true,
	}
	if slices.Contains(optional, oauth.DeviceCode) {
		m.DeviceEndpoint = d.url("/device_authorization")
	}
	if slices.Contains(optional, oauth.Implicit) {
		m.ResponseTypes = append(m.ResponseTypes, "token")
		m.ResponseModes = append(m.ResponseModes, "fragment")
	}
	if d.Registration {
		m.RegistrationEndpoint = d.url("/register")
	}
	return m
}

func (d *Documents) url(path string) string { return strings.TrimSuffix(d.Issuer, "/") + path }

// confidential are the authentication methods that prove who the client is.
func confidential(methods []string) []string {
	return slices.DeleteFunc(slices.Clone(methods), func(m string) bool { return m == "none" })
}
