package authorize

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Embedded is the login_type of a page that stands in a frame of the client's site, which
// is asked for without response_type.
const Embedded = "jssdk"

// connectLanguages are the values of lang; another is the browser's own to choose.
var connectLanguages = map[string]string{"cn": "zh", "en": "en"}

// ConnectGet is Variant B in one browser: our sign-in and consent, then the code.
func (e *Endpoint) ConnectGet(w http.ResponseWriter, r *http.Request) error {
	q, client, _, err := e.ReadConnect(r, oauth.SNSUserinfo, oauth.SNSBase)
	if err != nil {
		return err
	}
	return e.answer(w, r, q, client, prompt{}, "")
}

// ReadConnect reads a request of Variant B. The person is told everything that is wrong with it,
// with status 400: this dialect has no redirect for errors. One of scopes must be asked for. The
// client is returned with an error too, once it is known and the redirect_uri is its own.
func (e *Endpoint) ReadConnect(r *http.Request, scopes ...string) (*Request, *oauth.Client, query.Params, error) {
	p, refused := query.Parse(r.URL.RawQuery)
	if refused != nil {
		return nil, nil, nil, refused
	}
	locales := connectLanguages[p.Get("lang")]
	q, client, err := e.checkConnect(r, p, scopes)
	if err != nil {
		return nil, client, p, page.InLanguage(err, e.Pages.Language(r, locales))
	}
	q.Locales = locales
	return q, client, p, nil
}

func (e *Endpoint) checkConnect(r *http.Request, p query.Params, scopes []string) (_ *Request, client *oauth.Client, _ error) {
	bad := func(text string) (*Request, *oauth.Client, error) {
		return nil, client, oauth.E(oauth.InvalidRequest, text)
	}
	if name := p.Repeated(); name != "" {
		return bad("a parameter is repeated: " + name[:min(len(name), 40)])
	}
	// The script that makes the embedded form writes what its caller left out as this word.
	for _, name := range []string{"appid", "redirect_uri", "response_type", "scope", "state"} {
		if p.Get(name) == "undefined" {
			return bad(name + ` is the word "undefined": the page that made this address left it out`)
		}
	}
	known, err := e.findClient(r.Context(), store.DialectVariantB, p.Get("appid"), p.Get("redirect_uri"))
	if err != nil {
		return nil, nil, err
	}
	client = known // from here on its site is told what is wrong
	switch kind := p.Get("response_type"); {
	case kind == "" && p.Get("login_type") != Embedded:
		return bad("response_type is missing; it is code")
	case kind != "" && kind != responseCode:
		return bad("this response_type is not supported; use code")
	}
	state := p.Get("state")
	if len(state) > query.MaxState {
		return bad("state is longer than 4096 bytes")
	}
	asked, text := connectScopes(client, p.Get("scope"), scopes)
	if text != "" {
		return bad(text)
	}
	challenge, refused := connectChallenge(p)
	if refused != "" {
		return bad(refused)
	}
	// There is no id_token here, so a nonce binds nothing.
	if state == "" && oauth.StateRuleOf(client, e.RequireState).Demands(challenge != "") {
		return bad("state is missing or empty: send it, or have the client configured with require_state never")
	}
	return &Request{
		ID: secret.ID(), Dialect: store.DialectVariantB, Client: client.ID, RedirectURI: p.Get("redirect_uri"),
		Scopes: asked, State: state, Challenge: challenge, Created: e.Now(),
	}, client, nil
}

// connectScopes splits at commas, as the provider does, and spaces, as OAuth does. refused says why not.
func connectScopes(c *oauth.Client, sent string, here []string) (scopes []string, refused string) {
	scopes, ok := oauth.ParseScopes(strings.ReplaceAll(sent, ",", " "))
	switch {
	case !ok:
		return nil, "the scope parameter is malformed or too long"
	case !slices.ContainsFunc(scopes, func(name string) bool { return slices.Contains(here, name) }):
		return nil, "scope must have one of " + strings.Join(here, ", ")
	}
	for _, name := range scopes {
		if !slices.Contains(c.Scopes, name) {
			return nil, "scope " + name + " is unknown or not allowed for this client"
		}
	}
	return scopes, ""
}

// connectChallenge reads the challenge of clients that use PKCE. The provider whose dialect this
// is has none, so nobody must.
func connectChallenge(p query.Params) (challenge, refused string) {
	challenge = p.Get("code_challenge")
	switch {
	case challenge == "" && p.Get("code_challenge_method") == "":
		return "", ""
	case challenge == "" || p.Get("code_challenge_method") != "S256":
		return "", "code_challenge goes with code_challenge_method S256"
	case !oauth.ValidChallenge(challenge):
		return "", "code_challenge is not the base64url form of a SHA-256 digest"
	}
	return challenge, ""
}
