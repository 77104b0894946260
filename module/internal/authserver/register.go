package authserver

import (
	"encoding/json"
	"errors"
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

// registrationAnswer is RFC 7591 section 3.2.1 and RFC 7592 section 3.
type registrationAnswer struct {
	ClientID      string `json:"client_id"`
	ClientSecret  string `json:"client_secret,omitempty"`
	SecretExpires *int64 `json:"client_secret_expires_at,omitempty"` // 0: never; with a secret only
	IssuedAt      int64  `json:"client_id_issued_at,omitempty"`
	AccessToken   string `json:"registration_access_token"`
	ClientURI     string `json:"registration_client_uri"`
	registration
}

// registerPath is where a client's own address begins (RFC 7592 section 2).
const registerPath = "/register/"

// What is said to a request without a token. Client libraries show these texts to the people
// who have to get one.
const (
	needsInitialToken = "registration needs an initial access token in Authorization: Bearer. Ask the operator of this server for one, or for a client_id"
	needsClientToken  = "the registration access token of this client is needed in Authorization: Bearer"
)

// register is the client registration endpoint (RFC 7591 section 3).
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	answer, err := s.newClient(w, r)
	s.answerRegistration(w, http.StatusCreated, answer, err)
}

func (s *Server) newClient(w http.ResponseWriter, r *http.Request) (registrationAnswer, error) {
	sent, err := s.registrationToken(w, r, needsInitialToken)
	if err != nil {
		return registrationAnswer{}, err
	}
	known := false
	digest := []byte(secret.Digest(sent))
	for _, t := range s.Registration.InitialTokens {
		if secret.Equal(digest, []byte(t)) {
			known = true
		}
	}
	if !known {
		return registrationAnswer{}, s.wrongToken(w, r)
	}
	wish, refused := readRegistration(r)
	if refused != nil {
		return registrationAnswer{}, refused
	}
	client, refused := wish.client(s.Registration.Scopes, s.Tokens.IDAlgorithms())
	if refused != nil {
		return registrationAnswer{}, refused
	}
	client.RegisteredAudience = s.Registration.Audience
	access := secret.Token()
	made, value, err := s.Registrar.Register(r.Context(), client, secret.Digest(access), s.Registration.Max)
	if err != nil {
		return registrationAnswer{}, refusal.OrUnavailable(err)
	}
	s.registered(r, made.ID, "created")
	a := s.describe(made, access)
	a.ClientSecret, a.IssuedAt = value, s.Now().Unix()
	if value != "" {
		a.SecretExpires = new(int64)
	}
	return a, nil
}

// registeredClient is the client configuration endpoint (RFC 7592 section 2).
func (s *Server) registeredClient(w http.ResponseWriter, r *http.Request) {
	access, err := s.registrationToken(w, r, needsClientToken)
	if err != nil {
		s.answerRegistration(w, 0, registrationAnswer{}, err)
		return
	}
	id := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	client, ok, err := s.Registrar.Registered(r.Context(), id, secret.Digest(access))
	switch {
	case err != nil:
		err = refusal.OrUnavailable(err)
	case !ok:
		err = s.wrongToken(w, r)
	case r.Method == http.MethodPut:
		client, err = s.changeClient(r, client)
	case r.Method == http.MethodDelete:
		if err = s.Registrar.Unregister(r.Context(), client.ID); err == nil {
			s.registered(r, client.ID, "deleted")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		err = refusal.OrUnavailable(err)
	}
	if err != nil {
		s.answerRegistration(w, 0, registrationAnswer{}, err)
		return
	}
	s.answerRegistration(w, http.StatusOK, s.describe(client, access), nil)
}

// changeClient replaces the whole of what the client said of itself (RFC 7592 section 2.2).
func (s *Server) changeClient(r *http.Request, client *oauth.Client) (*oauth.Client, error) {
	wish, refused := readRegistration(r)
	if refused != nil {
		return nil, refused
	}
	if wish.id != client.ID {
		return nil, oauth.E(oauth.InvalidClientMetadata, "client_id is missing or another one").About("client_id")
	}
	if wish.secret != "" && !slices.Contains(client.SecretHashes, secret.Digest(wish.secret)) {
		return nil, oauth.E(oauth.InvalidClientMetadata, "client_secret is not the client's: it cannot be chosen").About("client_secret")
	}
	changed, refused := wish.client(s.Registration.Scopes, s.Tokens.IDAlgorithms())
	if refused != nil {
		return nil, refused
	}
	changed.RegisteredAudience = s.Registration.Audience
	changed, err := s.Registrar.Reregister(r.Context(), client.ID, changed)
	if err != nil {
		return nil, refusal.OrUnavailable(err)
	}
	s.registered(r, client.ID, "updated")
	return changed, nil
}

func (s *Server) registered(r *http.Request, id, what string) {
	s.Audit.Record(r.Context(), audit.Event{Name: audit.Registered, Client: id, Reason: what})
	s.Log.Info("registration "+what, slog.String("client", id), slog.String("address", s.ClientIP(r)))
}

// describe says what is registered now.
func (s *Server) describe(c *oauth.Client, access string) registrationAnswer {
	m := registration{
		RedirectURIs: c.RedirectURIs, PostLogoutRedirectURIs: c.PostLogoutRedirectURIs, AuthMethod: c.AuthMethod,
		ResponseTypes: []string{responseCode}, ClientName: c.Name, IDTokenAlg: c.IDTokenAlg, ApplicationType: "web",
		Scope: oauth.JoinScopes(slices.DeleteFunc(slices.Clone(c.Scopes), func(name string) bool {
			return !slices.Contains(s.Registration.Scopes, name)
		})),
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
	return registrationAnswer{ClientID: c.ID, AccessToken: access, ClientURI: s.url(registerPath + c.ID), registration: m}
}

// readRegistration reads a body of JSON.
func readRegistration(r *http.Request) (registration, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return registration{}, oauth.E(oauth.InvalidClientMetadata, "the body must be application/json").WithStatus(http.StatusUnsupportedMediaType)
	}
	body, err := httpx.ReadBody(r)
	if refused := (*httpx.FormError)(nil); errors.As(err, &refused) {
		return registration{}, oauth.E(oauth.InvalidClientMetadata, refused.Reason).WithStatus(refused.Status)
	}
	if err != nil {
		return registration{}, oauth.E(oauth.InvalidClientMetadata, "the body could not be read")
	}
	return parseRegistration(body)
}

// registrationToken reads the token of a registration; missing is the text of the error where
// there is none. Wrong tokens are throttled by address: nothing else tells guessers apart.
func (s *Server) registrationToken(w http.ResponseWriter, r *http.Request, missing string) (string, error) {
	sent, err := oauthhttp.BearerToken(r)
	if err != nil {
		return "", err
	}
	if sent == "" {
		w.Header().Set("WWW-Authenticate", `Bearer realm="gatehouse"`)
		return "", oauth.E(oauth.InvalidToken, missing)
	}
	if refused, retry := s.Attempts.Refused(s.registrationKey(r), s.registrationRule()); refused {
		return "", refusal.TooMany(retry)
	}
	return sent, nil
}

// wrongToken counts a guess. Whether the client or the token is unknown is not told.
func (s *Server) wrongToken(w http.ResponseWriter, r *http.Request) error {
	if ok, retry := s.Attempts.Take(s.registrationKey(r), s.registrationRule()); !ok {
		return refusal.TooMany(retry)
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="gatehouse", error="invalid_token"`)
	return oauth.E(oauth.InvalidToken, "the access token is not valid here")
}

func (s *Server) registrationKey(r *http.Request) string {
	return "register:" + httpx.AddressKey(s.ClientIP(r))
}

func (s *Server) registrationRule() lockout.Rule {
	return lockout.Rule{Limit: s.Protect.ClientFailures, Window: time.Minute}
}

func (s *Server) answerRegistration(w http.ResponseWriter, status int, answer registrationAnswer, err error) {
	if err != nil {
		s.respond.WriteError(w, err)
		return
	}
	s.respond.WriteJSON(w, status, answer)
}
