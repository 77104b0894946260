package authorize

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// maxNonce is the longest nonce that is carried through the pages for the client, in bytes.
const maxNonce = 4096

// scopeOpenID makes a request one of OpenID Connect (Core section 3.1.2.1).
const scopeOpenID = "openid"

// prompt is what the parameter of that name asks for (OpenID Connect Core section 3.1.2.1).
type prompt struct{ none, login, consent bool }

// checkRequest checks what is asked for, once client and redirect address are known to be good.
// The order is that of RFC 6749 section 4.1.2.1 with the likeliest mistakes of a developer first.
func (e *Endpoint) checkRequest(p query.Params, c *oauth.Client) (*Request, prompt, error) {
	bad := func(code oauth.Code, text string) (*Request, prompt, error) {
		return nil, prompt{}, oauth.E(code, text)
	}
	if name := p.Repeated(); name != "" {
		return bad(oauth.InvalidRequest, "a parameter is repeated: "+name[:min(len(name), 40)])
	}
	switch {
	case p.Has("request"):
		return bad(oauth.RequestNotSupported, "request objects are not supported")
	case p.Has("request_uri"):
		return bad(oauth.RequestURINotSupported, "request_uri is not supported")
	case p.Has("registration"):
		return bad(oauth.RegistrationUnsupported, "registration is not supported")
	}
	if refused := e.checkResponseType(c, p.Get("response_type")); refused != nil {
		return nil, prompt{}, refused
	}
	if refused := checkMode(p.Get("response_mode"), p.Get("response_type")); refused != nil {
		return nil, prompt{}, refused
	}
	implicit := p.Get("response_type") == responseToken
	challenge, refused := e.readChallenge(p, c)
	if refused != nil {
		return nil, prompt{}, refused
	}
	state, nonce := p.Get("state"), p.Get("nonce")
	switch {
	case len(state) > query.MaxState:
		return bad(oauth.InvalidRequest, "state is longer than 4096 bytes")
	case len(nonce) > maxNonce:
		return bad(oauth.InvalidRequest, "nonce is longer than 4096 bytes")
	}
	scopes, refused := c.GrantableScopes(p.Get("scope"))
	if refused != nil {
		return nil, prompt{}, refused
	}
	// A nonce is compared only where there is an id_token to bring it back: with scope
	// openid, and not in the implicit grant, whose answer is an access token alone.
	bound := challenge != "" || nonce != "" && !implicit && slices.Contains(scopes, scopeOpenID)
	if rule := oauth.StateRuleOf(c, e.RequireState); state == "" && rule.Demands(bound) {
		return bad(oauth.InvalidRequest, stateMissing[rule])
	}
	resources := p.All("resource")
	if len(resources) > 0 {
		var err error
		if resources, err = e.Audiences.Narrow(c, nil, resources); err != nil {
			return nil, prompt{}, err
		}
	}
	q := &Request{
		ID: secret.ID(), Client: c.ID, RedirectURI: p.Get("redirect_uri"), Scopes: scopes,
		State: state, Challenge: challenge, Nonce: nonce, Implicit: implicit, Resources: resources,
		Created: e.Now(), Locales: p.Locales(),
	}
	want, refused := q.readPrompt(p)
	return q, want, refused
}

// stateMissing says what is wrong and which word of the configuration decides it.
var stateMissing = map[oauth.StateRule]string{
	oauth.StateAlways:            "state is missing or empty: send it, or have the client configured with require_state unless_pkce_or_nonce",
	oauth.StateUnlessPKCEOrNonce: "state is missing or empty: send it, or PKCE, or a nonce with scope openid (require_state unless_pkce_or_nonce)",
}

// readChallenge applies PKCE: S256 only. An omitted method would mean plain (RFC 7636 section 4.3), which protects
// nothing when the request is seen. The implicit grant has no code to protect.
func (e *Endpoint) readChallenge(p query.Params, c *oauth.Client) (string, error) {
	challenge, method := p.Get("code_challenge"), p.Get("code_challenge_method")
	switch {
	case p.Get("response_type") == responseToken:
		return "", nil
	case challenge == "" && method != "":
		return "", oauth.Parameter("code_challenge_method", "without code_challenge")
	case challenge == "" && (c.Public || e.PKCERequired):
		return "", oauth.Parameter("code_challenge", "is missing: PKCE is required")
	case challenge == "":
		return "", nil
	case method != "S256":
		return "", oauth.Parameter("code_challenge_method", "must be S256")
	case !oauth.ValidChallenge(challenge):
		return "", oauth.Parameter("code_challenge", "is not the base64url form of a SHA-256 digest")
	}
	return challenge, nil
}

// readPrompt reads prompt and max_age. Values of prompt that we do not know are left alone, as OpenID Connect Core
// allows; there is one account per browser, so choosing another means signing in.
func (q *Request) readPrompt(p query.Params) (prompt, error) {
	var want prompt
	words := strings.Fields(p.Get("prompt"))
	for _, word := range words {
		switch word {
		case "none":
			want.none = true
		case "login", "select_account":
			want.login = true
		case "consent":
			want.consent = true
		}
	}
	if want.none && len(words) > 1 {
		return want, oauth.E(oauth.InvalidRequest, "prompt=none cannot be combined")
	}
	q.AskAgain = want.consent
	if age := p.Get("max_age"); age != "" {
		n, err := strconv.ParseUint(age, 10, 32)
		if err != nil {
			return want, oauth.Parameter("max_age", "is not a number of seconds")
		}
		q.AuthAfter = q.Created.Add(-time.Duration(n) * time.Second)
		want.login = want.login || n == 0
	}
	if want.login {
		q.AuthAfter = q.Created
	}
	return want, nil
}
