// Package registration lets clients register themselves (RFC 7591) and manage their registration (RFC 7592). It knows
// nothing of where clients are stored.
package registration

import (
	"encoding/json"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Endpoint is the client registration endpoint (RFC 7591) and the client configuration endpoint (RFC 7592). All
// fields are needed.
type Endpoint struct {
	Rules
	Registrar Registrar
	// IDAlgorithms are those that id_tokens are signed with.
	IDAlgorithms []string
	// Address is the URL of the endpoint. A client's own address has its id below it.
	Address string
	// Attempts counts wrong tokens, under keys that begin with "register:".
	Attempts *lockout.Book
	// Guesses is how many wrong tokens a minute one address may send.
	Guesses int
	// ClientIP is the address of the sender, without port.
	ClientIP func(*http.Request) string
	Audit    audit.Sink
	Log      *slog.Logger
	Respond  oauthhttp.Responder
	Now      func() time.Time
}

// answer is RFC 7591 section 3.2.1 and RFC 7592 section 3.
type answer struct {
	ClientID      string `json:"client_id"`
	ClientSecret  string `json:"client_secret,omitempty"`
	SecretExpires *int64 `json:"client_secret_expires_at,omitempty"` // 0: never; with a secret only
	IssuedAt      int64  `json:"client_id_issued_at,omitempty"`
	AccessToken   string `json:"registration_access_token"`
	ClientURI     string `json:"registration_client_uri"`
	metadata
}

// The errors of requests without a token. Client libraries show these texts to the people who have to get one.
const (
	needsInitialToken = "registration needs an initial access token in Authorization: Bearer. Ask the operator of this server for one, or for a client_id"
	needsClientToken  = "the registration access token of this client is needed in Authorization: Bearer"
)

// Register makes a client (RFC 7591 section 3).
func (e *Endpoint) Register(w http.ResponseWriter, r *http.Request) {
	answer, err := e.newClient(w, r)
	if err != nil {
		e.Respond.WriteError(w, r, err)
		return
	}
	e.Respond.WriteJSON(w, http.StatusCreated, answer)
}

func (e *Endpoint) newClient(w http.ResponseWriter, r *http.Request) (answer, error) {
	sent, err := e.readToken(w, r, needsInitialToken)
	if err != nil {
		return answer{}, err
	}
	known, digest := false, []byte(secret.Digest(sent))
	for _, t := range e.InitialTokens {
		known = secret.Equal(digest, []byte(t)) || known
	}
	if !known {
		return answer{}, e.wrongToken(w, r)
	}
	wish, err := readMetadata(r)
	if err != nil {
		return answer{}, err
	}
	client, err := wish.newClient(e.Scopes, e.IDAlgorithms)
	if err != nil {
		return answer{}, err
	}
	client.RegisteredAudience = e.Audience
	access := secret.Token()
	made, value, err := e.Registrar.Register(r.Context(), client, secret.Digest(access), e.Max)
	if err != nil {
		return answer{}, refusal.OrUnavailable(err)
	}
	e.record(r, made.ID, "created")
	a := e.describe(made, access)
	a.ClientSecret, a.IssuedAt = value, e.Now().Unix()
	if value != "" {
		a.SecretExpires = new(int64)
	}
	return a, nil
}

// Show tells a client what is registered (RFC 7592 section 2.1).
func (e *Endpoint) Show(w http.ResponseWriter, r *http.Request) {
	client, access, err := e.findClient(w, r)
	e.writeClient(w, r, client, access, err)
}

// Update replaces all that a client said of itself (RFC 7592 section 2.2).
func (e *Endpoint) Update(w http.ResponseWriter, r *http.Request) {
	client, access, err := e.findClient(w, r)
	if err == nil {
		client, err = e.changeClient(r, client)
	}
	e.writeClient(w, r, client, access, err)
}

// Delete removes a client and all that was issued to it (RFC 7592 section 2.3).
func (e *Endpoint) Delete(w http.ResponseWriter, r *http.Request) {
	client, _, err := e.findClient(w, r)
	if err == nil {
		err = refusal.OrUnavailable(e.Registrar.Unregister(r.Context(), client.ID))
	}
	if err != nil {
		e.Respond.WriteError(w, r, err)
		return
	}
	e.record(r, client.ID, "deleted")
	w.WriteHeader(http.StatusNoContent)
}

// findClient returns the client whose address this is, and its registration access token.
func (e *Endpoint) findClient(w http.ResponseWriter, r *http.Request) (client *oauth.Client, access string, err error) {
	access, err = e.readToken(w, r, needsClientToken)
	if err != nil {
		return nil, "", err
	}
	id := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	client, ok, err := e.Registrar.Registered(r.Context(), id, secret.Digest(access))
	switch {
	case err != nil:
		return nil, "", refusal.OrUnavailable(err)
	case !ok:
		return nil, "", e.wrongToken(w, r)
	}
	return client, access, nil
}

func (e *Endpoint) writeClient(w http.ResponseWriter, r *http.Request, client *oauth.Client, access string, err error) {
	if err != nil {
		e.Respond.WriteError(w, r, err)
		return
	}
	e.Respond.WriteJSON(w, http.StatusOK, e.describe(client, access))
}

func (e *Endpoint) changeClient(r *http.Request, client *oauth.Client) (*oauth.Client, error) {
	wish, err := readMetadata(r)
	if err != nil {
		return nil, err
	}
	if wish.id != client.ID {
		return nil, invalid("client_id", "client_id is missing or another one")
	}
	if wish.secret != "" && !slices.Contains(client.SecretHashes, secret.Digest(wish.secret)) {
		return nil, invalid("client_secret", "client_secret is not the client's: it cannot be chosen")
	}
	changed, err := wish.newClient(e.Scopes, e.IDAlgorithms)
	if err != nil {
		return nil, err
	}
	changed.RegisteredAudience = e.Audience
	changed, err = e.Registrar.Reregister(r.Context(), client.ID, changed)
	if err != nil {
		return nil, refusal.OrUnavailable(err)
	}
	e.record(r, client.ID, "updated")
	return changed, nil
}

func (e *Endpoint) record(r *http.Request, id, what string) {
	e.Audit.Record(r.Context(), audit.Event{Name: audit.Registered, Client: id, Reason: what})
	e.Log.Info("registration "+what, slog.String("client", id), slog.String("address", e.ClientIP(r)))
}

// describe is the answer about a client as it is registered now.
func (e *Endpoint) describe(c *oauth.Client, access string) answer {
	m := metadata{
		RedirectURIs: c.RedirectURIs, PostLogoutRedirectURIs: c.PostLogoutRedirectURIs, AuthMethod: c.AuthMethod,
		ResponseTypes: []string{"code"}, ClientName: c.Name, IDTokenAlg: c.IDTokenAlg, ApplicationType: "web",
		Scope: oauth.JoinScopes(e.usableScopes(c)),
	}
	for _, g := range c.Grants {
		m.GrantTypes = append(m.GrantTypes, string(g))
	}
	if c.Public {
		m.AuthMethod = "none"
	}
	if c.Native {
		m.ApplicationType = "native"
	}
	if c.JWKS != "" {
		m.JWKS = json.RawMessage(c.JWKS)
	}
	return answer{ClientID: c.ID, AccessToken: access, ClientURI: e.Address + "/" + c.ID, metadata: m}
}

// usableScopes are the scopes that a client may request. Whoever can refresh may request offline_access, which need not be
// among the configured ones; oidc-agent gives up if the answer leaves it out.
func (e *Endpoint) usableScopes(c *oauth.Client) []string {
	return slices.DeleteFunc(slices.Clone(c.Scopes), func(name string) bool {
		refreshes := name == "offline_access" && c.MayUse(oauth.RefreshToken)
		return !refreshes && !slices.Contains(e.Scopes, name)
	})
}

// readMetadata reads a body of JSON.
func readMetadata(r *http.Request) (metadata, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return metadata{}, oauth.E(oauth.InvalidClientMetadata, "the body must be application/json").WithStatus(http.StatusUnsupportedMediaType)
	}
	body, err := httpx.ReadBody(r)
	if err != nil {
		return metadata{}, oauthhttp.BodyError(err, oauth.InvalidClientMetadata)
	}
	return parseMetadata(body)
}

// readToken reads the token of a request; missing is the error text if there is none. Wrong tokens are throttled by
// address, since nothing else distinguishes guessers.
func (e *Endpoint) readToken(w http.ResponseWriter, r *http.Request, missing string) (string, error) {
	sent, err := oauthhttp.BearerToken(r)
	if err != nil {
		return "", err
	}
	if sent == "" {
		w.Header().Set("WWW-Authenticate", `Bearer realm="gatehouse"`)
		return "", oauth.E(oauth.InvalidToken, missing)
	}
	if refused, retry := e.Attempts.Refused(e.guessKey(r), e.guessRule()); refused {
		return "", refusal.TooMany(retry)
	}
	return sent, nil
}

// wrongToken counts a guess. The answer does not disclose whether the client or the token is unknown.
func (e *Endpoint) wrongToken(w http.ResponseWriter, r *http.Request) error {
	if err := refusal.Limited(e.Attempts.Take(e.guessKey(r), e.guessRule())); err != nil {
		return err
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="gatehouse", error="invalid_token"`)
	return oauth.E(oauth.InvalidToken, "the access token is not valid here")
}

func (e *Endpoint) guessKey(r *http.Request) string {
	return "register:" + httpx.AddressKey(e.ClientIP(r))
}

func (e *Endpoint) guessRule() lockout.Rule {
	return lockout.Rule{Limit: e.Guesses, Window: time.Minute}
}
