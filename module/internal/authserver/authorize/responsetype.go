package authorize

import "github.com/gatehouse/gatehouse/module/oauth"

// The values of response_type. The second is the implicit grant (RFC 6749 section 4.2),
// for clients that have it until a date.
const (
	responseCode  = "code"
	responseToken = "token"
)

// inFragment reports whether the answer to a request, errors included, goes into the
// fragment of the redirect address (RFC 6749 section 4.2.2). While no client may use the
// implicit grant, its response type is refused like an unknown one.
func (e *Endpoint) inFragment(c *oauth.Client, responseType string) bool {
	return responseType == responseToken && (e.GrantTypes.CheckGrantType(c, oauth.Implicit) == nil || e.GrantTypes.SomebodyMayUse(oauth.Implicit))
}

// checkResponseType refuses a response type that the client may not use now.
func (e *Endpoint) checkResponseType(c *oauth.Client, responseType string) error {
	switch responseType {
	case "":
		return oauth.Parameter("response_type", "is missing")
	case responseCode:
		return e.GrantTypes.CheckGrantType(c, oauth.AuthorizationCode)
	case responseToken:
		if e.inFragment(c, responseType) {
			return e.GrantTypes.CheckGrantType(c, oauth.Implicit)
		}
	}
	return oauth.E(oauth.UnsupportedResponseType, "this response_type is not supported; use code")
}

// checkMode allows the response_mode that the type has anyway (OAuth 2.0 Multiple Response
// Types section 2.1). A token never goes into a query, which servers log.
func checkMode(mode, responseType string) error {
	own := map[string]string{responseCode: "query", responseToken: "fragment"}[responseType]
	if mode != "" && mode != own {
		return oauth.E(oauth.InvalidRequest, "only response_mode="+own+" is supported with this response_type")
	}
	return nil
}
