package authserver

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/webui"
)

// Limits of an authorization request, in bytes.
const (
	maxQuery = 16 << 10
	maxState = 4 << 10
	maxNonce = 4 << 10
	maxHint  = 256
)

// asked are the parameters that are looked at. Of these a second value is an error of
// the request, not of the form.
var asked = []string{
	"client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce", "code_challenge",
	"code_challenge_method", "prompt", "max_age", "login_hint", "ui_locales", "request", "request_uri", "registration",
}

// authorize is the authorization endpoint (RFC 6749 section 3.1).
func (s *signIn) authorize(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.authorizePost(w, r)
		return
	}
	if len(r.URL.RawQuery) > maxQuery {
		s.errorPage(w, r, http.StatusRequestURITooLong, webui.ErrorView{Code: "invalid_request", Detail: "the query is longer than 16 KiB"})
		return
	}
	f, err := httpx.ParseForm(r.URL.RawQuery, asked...)
	if err != nil {
		s.badForm(w, r, err)
		return
	}
	client, redirectURI, fault, err := s.destination(r.Context(), f)
	switch {
	case err != nil:
		s.unavailable(w, r, err)
		return
	case fault != nil:
		s.errorPage(w, r, http.StatusBadRequest, *fault)
		return
	}
	req, refused := s.request(f, client, redirectURI)
	switch {
	case refused != nil:
		s.refuse(w, r, req, refused)
	case r.Method == http.MethodHead:
		w.WriteHeader(http.StatusOK) // a HEAD asks whether, and makes nothing
	default:
		s.begin(w, r, client, req)
	}
}

// authorizePost turns a form into a query: a browser keeps SameSite cookies back from
// a post that another site makes, and the session with them.
func (s *signIn) authorizePost(w http.ResponseWriter, r *http.Request) {
	f, err := httpx.ReadForm(r, asked...)
	if err != nil {
		s.badForm(w, r, err)
		return
	}
	q := url.Values{}
	for _, name := range asked {
		if all := f.All(name); len(all) > 0 {
			q[name] = all
		}
	}
	w.Header().Set("Location", s.url("/authorize")+"?"+q.Encode())
	w.WriteHeader(http.StatusSeeOther)
}

// destination finds who asks and where the answer goes. Until both are certain nothing
// may be redirected anywhere (RFC 6749 section 3.1.2.4).
func (s *signIn) destination(ctx context.Context, f httpx.Form) (*oauth.Client, string, *webui.ErrorView, error) {
	bad := func(code, detail string) (*oauth.Client, string, *webui.ErrorView, error) {
		return nil, "", &webui.ErrorView{Code: code, Detail: detail}, nil
	}
	for _, name := range []string{"client_id", "redirect_uri"} {
		if len(f.All(name)) > 1 {
			return bad("invalid_request", name+" is repeated")
		}
	}
	id := f.Get("client_id")
	if id == "" {
		return bad("unknown_client", "client_id is missing")
	}
	client, ok, err := s.Clients.Client(ctx, id)
	if err != nil {
		return nil, "", nil, err
	}
	if !ok {
		return bad("unknown_client", "client_id is unknown")
	}
	redirectURI := f.Get("redirect_uri")
	switch {
	case redirectURI == "":
		return bad("invalid_redirect_uri", "redirect_uri is missing")
	case !client.MatchesRedirect(redirectURI):
		return bad("invalid_redirect_uri", "redirect_uri is not exactly one of the client's registered addresses")
	}
	return client, redirectURI, nil, nil
}

// request checks everything else. What it refuses is told to the client; the request is
// then filled in as far as the redirect needs.
func (s *signIn) request(f httpx.Form, client *oauth.Client, redirectURI string) (request, *oauth.Error) {
	req := request{ID: secret.ID(), Client: client.ID, RedirectURI: redirectURI, Created: s.Now()}
	if len(f.All("state")) == 1 && len(f.Get("state")) <= maxState {
		req.State = f.Get("state")
	}
	for _, name := range asked {
		if len(f.All(name)) > 1 {
			return req, oauth.E(oauth.InvalidRequest, name+" is repeated")
		}
	}
	for _, check := range []func(httpx.Form, *oauth.Client, *request) *oauth.Error{
		s.checkUnsupported, s.checkResponse, s.checkState, s.checkPKCE, s.checkHints,
	} {
		if err := check(f, client, &req); err != nil {
			return req, err
		}
	}
	if !client.MayUse(oauth.AuthorizationCode) {
		return req, oauth.E(oauth.UnauthorizedClient, "this client may not use the authorization code flow")
	}
	var err *oauth.Error
	req.Scopes, err = client.GrantableScopes(f.Get("scope"))
	return req, err
}

// checkUnsupported refuses what would have to be fetched or trusted (OpenID Connect
// Core section 6); nothing is fetched.
func (s *signIn) checkUnsupported(f httpx.Form, _ *oauth.Client, _ *request) *oauth.Error {
	switch {
	case f.Get("request") != "":
		return oauth.E(oauth.RequestNotSupported, "request objects are not supported")
	case f.Get("request_uri") != "":
		return oauth.E(oauth.RequestURINotSupported, "request_uri is not supported")
	case f.Get("registration") != "":
		return oauth.E(oauth.RegistrationUnsupported, "registration is not supported")
	}
	return nil
}

func (s *signIn) checkResponse(f httpx.Form, _ *oauth.Client, _ *request) *oauth.Error {
	switch t := f.Get("response_type"); {
	case t == "":
		return oauth.E(oauth.InvalidRequest, "response_type is missing")
	case t != "code":
		return oauth.E(oauth.UnsupportedResponseType, "response_type must be code")
	}
	if mode := f.Get("response_mode"); mode != "" && mode != "query" {
		return oauth.E(oauth.InvalidRequest, "response_mode must be query")
	}
	return nil
}

func (s *signIn) checkState(f httpx.Form, _ *oauth.Client, req *request) *oauth.Error {
	switch {
	case len(f.Get("state")) > maxState:
		return oauth.E(oauth.InvalidRequest, "state is longer than 4096 bytes")
	case req.State != "":
		return nil
	case s.StateOptionalWithPKCE && f.Get("code_challenge_method") == "S256":
		return nil
	}
	return oauth.E(oauth.InvalidRequest, "state is missing (the server's require_state asks for it)")
}

// checkPKCE asks for S256: plain protects nothing once the request is seen (RFC 9700
// section 2.1.1).
func (s *signIn) checkPKCE(f httpx.Form, client *oauth.Client, req *request) *oauth.Error {
	challenge, method := f.Get("code_challenge"), f.Get("code_challenge_method")
	switch {
	case challenge == "" && method != "":
		return oauth.E(oauth.InvalidRequest, "code_challenge is missing")
	case challenge == "" && (client.Public || s.PKCERequired):
		return oauth.E(oauth.InvalidRequest, "code_challenge is missing: PKCE is required")
	case challenge == "":
		return nil
	case method != "S256":
		return oauth.E(oauth.InvalidRequest, "code_challenge_method must be S256")
	case !oauth.ValidChallenge(challenge):
		return oauth.E(oauth.InvalidRequest, "code_challenge is malformed")
	}
	req.Challenge = challenge
	return nil
}

// checkHints reads what shapes the pages (OpenID Connect Core section 3.1.2.1).
func (s *signIn) checkHints(f httpx.Form, _ *oauth.Client, req *request) *oauth.Error {
	req.Nonce, req.Hint, req.Locales = f.Get("nonce"), f.Get("login_hint"), f.Get("ui_locales")
	switch {
	case len(req.Nonce) > maxNonce:
		return oauth.E(oauth.InvalidRequest, "nonce is longer than 4096 bytes")
	case len(req.Hint) > maxHint:
		req.Hint = ""
	case len(req.Locales) > maxHint:
		req.Locales = ""
	}
	req.Prompt = strings.Fields(f.Get("prompt"))
	for _, p := range req.Prompt {
		if !slices.Contains([]string{"none", "login", "consent", "select_account"}, p) {
			return oauth.E(oauth.InvalidRequest, "prompt must be none, login, consent or select_account")
		}
	}
	if len(req.Prompt) > 1 && slices.Contains(req.Prompt, "none") {
		return oauth.E(oauth.InvalidRequest, "prompt none goes with no other")
	}
	if age := f.Get("max_age"); age != "" {
		n, err := strconv.Atoi(age)
		if err != nil || n < 0 {
			return oauth.E(oauth.InvalidRequest, "max_age must be a number of seconds")
		}
		req.MaxAge = &n
	}
	return nil
}

// refuse sends the browser back to the client with an error.
func (s *signIn) refuse(w http.ResponseWriter, r *http.Request, req request, e *oauth.Error) {
	q := url.Values{"error": {string(e.Code)}}
	if e.Description != "" {
		q.Set("error_description", printable(e.Description))
	}
	s.redirect(w, r, req, q)
}

// redirect sends the browser back to the client with the parameters, the state byte for
// byte and the issuer (RFC 9207). The registered query stays as it is. Never 307 or 308:
// they would repeat a post, with the password in it.
func (s *signIn) redirect(w http.ResponseWriter, r *http.Request, req request, q url.Values) {
	if req.State != "" {
		q.Set("state", req.State)
	}
	q.Set("iss", s.Issuer.String())
	separator := "?"
	switch {
	case strings.HasSuffix(req.RedirectURI, "?"), strings.HasSuffix(req.RedirectURI, "&"):
		separator = ""
	case strings.Contains(req.RedirectURI, "?"):
		separator = "&"
	}
	status := http.StatusFound
	if r.Method == http.MethodPost {
		status = http.StatusSeeOther
	}
	h := w.Header()
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Location", req.RedirectURI+separator+q.Encode())
	w.WriteHeader(status)
}
