package token

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
)

const (
	// defaultIDAlg is what OpenID Connect Core section 2 has every relying party know.
	defaultIDAlg = "RS256"
	// idType is the typ of an id_token. It keeps one from passing for an access token, whose type is another, and the
	// other way round.
	idType = "JWT"
	// maxIDSize bounds an id_token, which may say much about a user, and what else is signed for a client to read.
	maxIDSize = 32 << 10
)

// ownIDClaims are ours alone in an id_token: what a directory says under one of these names is left out, also where
// we say nothing.
var ownIDClaims = []string{
	"iss", "sub", "aud", "azp", "exp", "iat", "nbf", "jti", "auth_time", "nonce", "sid", "at_hash", "c_hash", "s_hash",
	"client_id", "scope", "fam", "cnf", "act", "events",
}

// ID is the content of an id_token (OpenID Connect Core section 2).
type ID struct {
	Subject string // sub
	Client  string // aud, and azp
	Nonce   string
	// Session names the browser session (sid), "" for none.
	Session  string
	AuthTime time.Time // whole seconds; zero for none
	// AccessToken is the one issued beside it, from which at_hash is made; "" for none.
	AccessToken string
	IssuedAt    time.Time // whole seconds
	Expires     time.Time // whole seconds
	// Claims are further ones about the user. They cannot replace those above, present or absent. Not filled in by
	// [Issuer.ReadHint].
	Claims map[string]any
}

// IssueID signs an id_token (OpenID Connect Core section 2). alg is RS256 when empty, ES256 or EdDSA. A zero IssuedAt
// is filled in. Errors are technical or the caller's mistake, never the client's.
func (i *Issuer) IssueID(ctx context.Context, id ID, alg string) (string, error) {
	alg = cmp.Or(alg, defaultIDAlg)
	if !keyring.Supports(alg) {
		return "", fmt.Errorf("token: id_tokens cannot be signed with %q", alg)
	}
	if id.IssuedAt.IsZero() {
		id.IssuedAt = i.Now()
	}
	if id.Subject == "" || id.Client == "" || !id.Expires.After(id.IssuedAt) {
		return "", errors.New("token: an id_token needs a subject, a client and a time to live")
	}
	claims := make(map[string]any, len(id.Claims)+len(ownIDClaims))
	maps.Copy(claims, id.Claims)
	maps.DeleteFunc(claims, func(name string, _ any) bool { return slices.Contains(ownIDClaims, name) })
	claims["iss"], claims["sub"], claims["aud"], claims["azp"] = i.Issuer, id.Subject, id.Client, id.Client
	claims["iat"], claims["exp"] = id.IssuedAt.Unix(), id.Expires.Unix()
	if !id.AuthTime.IsZero() {
		claims["auth_time"] = id.AuthTime.Unix()
	}
	if id.AccessToken != "" {
		claims["at_hash"] = leftHalf(alg, id.AccessToken)
	}
	for name, value := range map[string]string{"nonce": id.Nonce, "sid": id.Session} {
		if value != "" {
			claims[name] = value
		}
	}
	return i.sign(ctx, idType, claims, alg, maxIDSize)
}

// leftHalf is at_hash, OpenID Connect Core section 3.1.3.6: half of the hash that the algorithm of the id_token uses.
// Ed25519 uses SHA-512 (RFC 8032 section 5.1).
func leftHalf(alg, value string) string {
	if alg == "EdDSA" {
		sum := sha512.Sum512([]byte(value))
		return jose.Base64.EncodeToString(sum[:sha512.Size/2])
	}
	sum := sha256.Sum256([]byte(value))
	return jose.Base64.EncodeToString(sum[:sha256.Size/2])
}

// SignClaims signs claims of any other kind, such as an answer of /userinfo (OpenID Connect Core section 5.3.2): typ
// goes into the header, alg is RS256 when empty. It refuses the type of an access token, and claims that would make
// of an answer an id_token of ours. Errors are technical or the caller's mistake.
func (i *Issuer) SignClaims(ctx context.Context, typ string, claims map[string]any, alg string) (string, error) {
	alg = cmp.Or(alg, defaultIDAlg)
	if !keyring.Supports(alg) || typ == "" || isAccessType(typ) {
		return "", fmt.Errorf("token: cannot sign claims of type %q with %q", typ, alg)
	}
	if typ == idType && claims["azp"] != nil && claims["exp"] != nil {
		return "", errors.New("token: an id_token is made by IssueID only")
	}
	return i.sign(ctx, typ, claims, alg, maxIDSize)
}
