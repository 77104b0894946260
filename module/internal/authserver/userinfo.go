package authserver

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// userinfo is OpenID Connect Core section 5.3: who the user of an access token is. The
// token may be for any audience, since a client has no other to ask with; what it needs
// is the scope openid.
func (s *Server) userinfo(w http.ResponseWriter, r *http.Request) {
	raw, err := userinfoToken(r)
	if err != nil {
		s.challenge(w, err)
		return
	}
	access, client, err := s.openIDToken(r.Context(), raw)
	if err != nil {
		s.challenge(w, err)
		return
	}
	user, err := s.tokenUser(r.Context(), access)
	if err != nil {
		s.challenge(w, err)
		return
	}
	claims := userClaims(user, access.Scopes)
	claims["sub"] = user.ID
	if client.UserinfoContentType != "application/jwt" {
		s.respond.WriteJSON(w, http.StatusOK, claims)
		return
	}
	claims["iss"], claims["aud"] = s.issuer, client.ID
	signed, err := s.Tokens.SignClaims(r.Context(), "JWT", claims, client.IDTokenAlg)
	if err != nil {
		s.challenge(w, oauth.Unavailable(err))
		return
	}
	w.Header().Set("Content-Type", "application/jwt")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte(signed)) // the client is gone: nobody is left to tell
}

// openIDToken is what a token says that may be asked about at /userinfo, and whose it is.
func (s *Server) openIDToken(ctx context.Context, raw string) (*token.Access, *oauth.Client, error) {
	invalid := oauth.E(oauth.InvalidToken, "the access token is unknown, expired or revoked")
	access, err := s.Verifier.Verify(ctx, raw)
	switch {
	case errors.Is(err, token.ErrInvalid):
		return nil, nil, invalid
	case err != nil:
		return nil, nil, oauth.Unavailable(err)
	case access.Issuer != s.issuer:
		return nil, nil, invalid
	case strings.HasPrefix(access.Subject, token.ClientSubject):
		return nil, nil, oauth.E(oauth.InvalidToken, "the access token is a client's own, not a user's")
	case access.Pairwise != "": // the answer would tell who it really is
		return nil, nil, oauth.E(oauth.InvalidToken, "the access token is one of Variant B")
	case !slices.Contains(access.Scopes, scopeOpenID):
		return nil, nil, oauth.E(oauth.InsufficientScope, "the access token has no scope openid")
	}
	client, ok, err := s.Clients.Client(ctx, access.Client)
	switch {
	case err != nil:
		return nil, nil, oauth.Unavailable(err)
	case !ok:
		return nil, nil, invalid
	}
	return access, client, nil
}

// tokenUser is the user of a token now: what is told about one who was locked since
// would be as good as letting them in.
func (s *Server) tokenUser(ctx context.Context, access *token.Access) (directory.User, error) {
	user, ok, err := s.Directory.Lookup(ctx, access.Subject)
	switch {
	case err != nil:
		return user, oauth.Unavailable(err)
	case !ok || user.Locked:
		return user, oauth.E(oauth.InvalidToken, "the user may no longer sign in")
	}
	return user, nil
}

// challenge answers an error as RFC 6750 section 3 has it.
func (s *Server) challenge(w http.ResponseWriter, err error) {
	oauthhttp.SetChallenge(w.Header(), err, s.issuer, scopeOpenID)
	s.respond.WriteError(w, err)
}
