package authserver

import (
	"encoding/json"
	"net/http"

	"github.com/gatehouse/gatehouse/module/authserver/clientauth"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// providerMetadata is RFC 8414 section 2, RFC 9207 section 3 and what strict clients
// read besides. Only what works is in it.
type providerMetadata struct {
	Issuer                string            `json:"issuer"`
	AuthorizationEndpoint string            `json:"authorization_endpoint"`
	TokenEndpoint         string            `json:"token_endpoint"`
	JWKSURI               string            `json:"jwks_uri"`
	Scopes                []string          `json:"scopes_supported,omitempty"`
	ResponseTypes         []string          `json:"response_types_supported"`
	ResponseModes         []string          `json:"response_modes_supported"`
	GrantTypes            []oauth.GrantType `json:"grant_types_supported"`
	SubjectTypes          []string          `json:"subject_types_supported"`
	TokenAuthMethods      []string          `json:"token_endpoint_auth_methods_supported"`
	ChallengeMethods      []string          `json:"code_challenge_methods_supported"`
	UILocales             []string          `json:"ui_locales_supported,omitempty"`
	IssInResponse         bool              `json:"authorization_response_iss_parameter_supported"`
	RequestParameter      bool              `json:"request_parameter_supported"`
	RequestURIParameter   bool              `json:"request_uri_parameter_supported"`
}

// newDiscovery builds the document once: nothing of a request can get into it.
func newDiscovery(s *Server) (document, error) {
	var scopes []string
	for _, scope := range s.Scopes {
		if !scope.Hidden {
			scopes = append(scopes, scope.Name)
		}
	}
	body, err := json.Marshal(providerMetadata{
		Issuer:                s.Issuer.String(),
		AuthorizationEndpoint: s.url("/authorize"),
		TokenEndpoint:         s.url("/token"),
		JWKSURI:               s.url("/.well-known/jwks.json"),
		Scopes:                append(scopes, "offline_access"),
		ResponseTypes:         []string{"code"},
		ResponseModes:         []string{"query"},
		GrantTypes:            s.token.types(),
		SubjectTypes:          []string{"public"},
		TokenAuthMethods:      clientauth.Methods,
		ChallengeMethods:      []string{"S256"},
		UILocales:             s.Pages.Languages(),
		IssInResponse:         true,
	})
	if err != nil {
		return document{}, err
	}
	return document{body: body, etag: `"` + secret.Digest(string(body))[:32] + `"`}, nil
}

func (s *Server) metadata(w http.ResponseWriter, r *http.Request) { publish(w, r, s.discovery) }
