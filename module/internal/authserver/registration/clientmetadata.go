package registration

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/internal/clientassertion"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Limits of a registration, whose texts are stored and shown on pages.
const (
	maxClientName   = 80 // characters
	maxRegisteredTo = 20 // addresses of one kind
)

// metadata describes a client: the part of RFC 7591 section 2 and of OpenID Connect Registration section 2 that has
// an effect here. Other members are ignored, as section 2 wants; no address in them is ever fetched.
type metadata struct {
	RedirectURIs           []string        `json:"redirect_uris"`
	PostLogoutRedirectURIs []string        `json:"post_logout_redirect_uris,omitempty"`
	AuthMethod             string          `json:"token_endpoint_auth_method"`
	GrantTypes             []string        `json:"grant_types"`
	ResponseTypes          []string        `json:"response_types"`
	ClientName             string          `json:"client_name,omitempty"`
	Scope                  string          `json:"scope"`
	JWKS                   json.RawMessage `json:"jwks,omitempty"`
	ApplicationType        string          `json:"application_type"`
	IDTokenAlg             string          `json:"id_token_signed_response_alg,omitempty"`

	// Of an update only (RFC 7592 section 2.2).
	id, secret string
}

// notSent are the members that an update must not contain (RFC 7592 section 2.2).
var notSent = []string{"registration_access_token", "registration_client_uri", "client_secret_expires_at", "client_id_issued_at"}

// invalid refuses a member of the metadata, "" for none in particular.
func invalid(field, text string) error {
	return oauth.E(oauth.InvalidClientMetadata, text).About(field)
}

// parseMetadata reads a body and fills in what it leaves out. Names are read exactly: json's own matching would take
// Redirect_URIs for redirect_uris.
func parseMetadata(body []byte) (metadata, error) {
	var members map[string]json.RawMessage
	if !utf8.Valid(body) || json.Unmarshal(body, &members) != nil || members == nil {
		return metadata{}, invalid("", "the body is not a JSON object")
	}
	var m metadata
	for name, to := range map[string]any{
		"redirect_uris": &m.RedirectURIs, "post_logout_redirect_uris": &m.PostLogoutRedirectURIs,
		"token_endpoint_auth_method": &m.AuthMethod, "grant_types": &m.GrantTypes, "response_types": &m.ResponseTypes,
		"client_name": &m.ClientName, "scope": &m.Scope, "application_type": &m.ApplicationType,
		"id_token_signed_response_alg": &m.IDTokenAlg, "client_id": &m.id, "client_secret": &m.secret,
	} {
		if raw, ok := members[name]; ok && json.Unmarshal(raw, to) != nil {
			return metadata{}, invalid(name, name+" is not of the right type")
		}
	}
	own := slices.IndexFunc(notSent, func(name string) bool { return members[name] != nil })
	switch {
	case own >= 0:
		return metadata{}, invalid(notSent[own], "the server's own members do not belong in a request: "+strings.Join(notSent, ", "))
	case isGiven(members["jwks_uri"]):
		return metadata{}, invalid("jwks_uri", "jwks_uri is not supported, nothing is fetched: give the keys as jwks")
	}
	if m.JWKS = members["jwks"]; !isGiven(m.JWKS) {
		m.JWKS = nil
	}
	m.AuthMethod = cmp.Or(m.AuthMethod, "client_secret_basic")
	m.ApplicationType = cmp.Or(m.ApplicationType, "web")
	if len(m.GrantTypes) == 0 {
		m.GrantTypes = []string{string(oauth.AuthorizationCode)}
	}
	if len(m.ResponseTypes) == 0 {
		m.ResponseTypes = []string{"code"}
	}
	return m, nil
}

func isGiven(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// newClient makes the client, or refuses what it may not have; ceiling are the scopes, and algs the algorithms of
// id_tokens, that registered clients may have.
func (m *metadata) newClient(ceiling, algs []string) (*oauth.Client, error) {
	if m.ApplicationType != "web" && m.ApplicationType != "native" {
		return nil, invalid("application_type", "application_type must be web or native")
	}
	native := m.ApplicationType == "native"
	if len(m.RedirectURIs) == 0 {
		return nil, oauth.E(oauth.InvalidRedirectURI, "redirect_uris is missing or empty").About("redirect_uris")
	}
	if err := checkAddresses(oauth.InvalidRedirectURI, "redirect_uris", m.RedirectURIs, native); err != nil {
		return nil, err
	}
	if err := checkAddresses(oauth.InvalidClientMetadata, "post_logout_redirect_uris", m.PostLogoutRedirectURIs, native); err != nil {
		return nil, err
	}
	c := &oauth.Client{
		Name: strings.TrimSpace(m.ClientName), Native: native, SelfRegistered: true, RedirectURIs: m.RedirectURIs,
		PostLogoutRedirectURIs: m.PostLogoutRedirectURIs, IDTokenAlg: m.IDTokenAlg,
	}
	if !validName(m.ClientName) {
		return nil, invalid("client_name", "client_name must be at most 80 letters, digits, marks and signs, without control and formatting characters")
	}
	// What is not offered is dropped (RFC 7591 section 2), and the answer says what was registered. Nothing is added
	// that was not asked for.
	if c.Grants = parseGrantTypes(m.GrantTypes); !slices.Contains(c.Grants, oauth.AuthorizationCode) {
		return nil, invalid("grant_types", "grant_types must hold authorization_code; refresh_token may stand beside it, others are not offered")
	}
	if !slices.Contains(m.ResponseTypes, "code") {
		return nil, invalid("response_types", "response_types must hold code; others are not offered")
	}
	if m.IDTokenAlg != "" && !slices.Contains(algs, m.IDTokenAlg) {
		return nil, invalid("id_token_signed_response_alg", "id_token_signed_response_alg must be one of: "+strings.Join(algs, ", "))
	}
	asked, ok := oauth.ParseScopes(m.Scope)
	if !ok {
		return nil, invalid("scope", "scope is malformed or too long")
	}
	if len(asked) == 0 {
		c.Scopes = slices.Clone(ceiling)
		return m.setAuthMethod(c)
	}
	c.Scopes = slices.DeleteFunc(asked, func(name string) bool { return !slices.Contains(ceiling, name) })
	if len(c.Scopes) == 0 { // a client without scopes could do nothing, and none would read as all
		return nil, invalid("scope", "scope must hold one or more of those that registered clients may have: "+oauth.JoinScopes(ceiling))
	}
	return m.setAuthMethod(c)
}

// setAuthMethod adds how the client authenticates.
func (m *metadata) setAuthMethod(c *oauth.Client) (*oauth.Client, error) {
	switch m.AuthMethod {
	case "none":
		c.Public = true
	case "client_secret_basic", "client_secret_post":
		c.AuthMethod = m.AuthMethod
	case oauth.PrivateKeyJWT:
		if _, err := clientassertion.ParseKeys(string(m.JWKS)); err != nil {
			return nil, invalid("jwks", "jwks: "+err.Error())
		}
		c.AuthMethod, c.JWKS = m.AuthMethod, string(m.JWKS)
	default:
		return nil, invalid("token_endpoint_auth_method", "token_endpoint_auth_method must be none, client_secret_basic, client_secret_post or private_key_jwt")
	}
	return c, nil
}

func checkAddresses(code oauth.Code, name string, all []string, native bool) error {
	if len(all) > maxRegisteredTo {
		return oauth.E(code, name+" holds more than 20 addresses").About(name)
	}
	for i, uri := range all {
		if err := oauth.CheckRedirectURI(uri, native); err != nil {
			return oauth.E(code, "an address of "+name+" "+err.Error()).About(name)
		}
		if slices.Contains(all[:i], uri) {
			return oauth.E(code, "an address of "+name+" is given twice").About(name)
		}
	}
	return nil
}

// parseGrantTypes returns those of the names that a registered client may have, each once.
func parseGrantTypes(names []string) []oauth.GrantType {
	var all []oauth.GrantType
	for _, g := range []oauth.GrantType{oauth.AuthorizationCode, oauth.RefreshToken} {
		if slices.Contains(names, string(g)) {
			all = append(all, g)
		}
	}
	return all
}

// validName refuses names that could be read in reverse, hide a part or break out of their line on the consent page:
// control and formatting characters (bidirectional overrides, zero widths) and letters without a shape, except the joiners
// and variation selectors that some scripts and emoji need beside a character that is seen.
func validName(name string) bool {
	if utf8.RuneCountInString(name) > maxClientName {
		return false
	}
	marks, seen := 0, name == ""
	for _, r := range name {
		if marks++; !unicode.Is(unicode.M, r) {
			marks = 0
		}
		const joiner, nonJoiner, blankBraille = '\u200d', '\u200c', '\u2800'
		switch {
		case r == utf8.RuneError || marks > 3 || r == blankBraille || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
			return false
		case r == joiner || r == nonJoiner || unicode.Is(unicode.Variation_Selector, r) || r == ' ':
		case !unicode.IsPrint(r):
			return false
		default:
			seen = true
		}
	}
	return seen
}
