// Package userclaims returns the claims about a user that OpenID Connect's scopes ask for. It knows neither tokens
// nor clients.
package userclaims

import (
	"encoding/json"
	"slices"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// claimKind is the JSON type that OpenID Connect Core section 5.1 gives a claim. Relying parties in typed languages
// reject the whole answer if one claim has another type.
type claimKind int

const (
	textClaim claimKind = iota
	boolClaim
	numberClaim
	objectClaim
	pictureClaim // a text
)

// scopeClaims are the standard claims about a user by the scope that asks for them (OpenID Connect Core section 5.4).
// Other attributes of the directory are never in a token.
var scopeClaims = []struct {
	scope  string
	claims []standardClaim
}{
	{"profile", []standardClaim{
		{"name", textClaim}, {"given_name", textClaim}, {"family_name", textClaim}, {"middle_name", textClaim},
		{"nickname", textClaim}, {"preferred_username", textClaim}, {"profile", textClaim}, {"picture", pictureClaim},
		{"website", textClaim}, {"gender", textClaim}, {"birthdate", textClaim}, {"zoneinfo", textClaim},
		{"locale", textClaim}, {"updated_at", numberClaim},
	}},
	{"email", []standardClaim{{"email", textClaim}, {"email_verified", boolClaim}}},
	{"phone", []standardClaim{{"phone_number", textClaim}, {"phone_number_verified", boolClaim}}},
	{"address", []standardClaim{{"address", objectClaim}}},
}

type standardClaim struct {
	name string
	kind claimKind
}

// Of returns the claims about a user that these scopes ask for. A field of the user takes precedence over a claim of
// the same name; what the directory does not know is left out.
func Of(u directory.User, scopes []string) map[string]any {
	fields := map[string]string{
		"name": u.Name, "nickname": u.Nickname, "picture": u.Picture, "preferred_username": u.Username,
		"email": u.Email, "phone_number": u.Phone,
	}
	told := map[string]any{}
	for _, group := range scopeClaims {
		if !slices.Contains(scopes, group.scope) {
			continue
		}
		for _, c := range group.claims {
			if value := fields[c.name]; value != "" {
				told[c.name] = value
			} else if value, ok := u.Claims[c.name]; ok && c.kind.matches(value) {
				told[c.name] = value
			}
		}
	}
	// A verified flag is useless without the value.
	for verified, of := range map[string]string{"email_verified": "email", "phone_number_verified": "phone_number"} {
		if told[of] == nil {
			delete(told, verified)
		}
	}
	return told
}

func (k claimKind) matches(value any) bool {
	switch v := value.(type) {
	case string:
		return k == textClaim && v != "" || k == pictureClaim && isPicture(v)
	case bool:
		return k == boolClaim
	case map[string]any:
		return k == objectClaim
	case json.Number, float64, float32, int, int64, int32, uint64, uint32:
		return k == numberClaim
	}
	return false
}

// isPicture reports whether a directory may call this address a picture.
func isPicture(address string) bool {
	return directory.User{Picture: address}.Presentable().Picture != ""
}

// Supported lists the claims that an id_token or /userinfo may contain if these scopes can be asked for.
func Supported(scopes []string) []string {
	all := []string{"iss", "sub", "aud", "azp", "exp", "iat", "auth_time", "nonce", "at_hash", "sid"}
	for _, group := range scopeClaims {
		if slices.Contains(scopes, group.scope) {
			for _, c := range group.claims {
				all = append(all, c.name)
			}
		}
	}
	return all
}

// SessionID is the sid claim of the browser session that is stored under digest, "" for none. It is the same for all
// clients (OpenID Connect Front-Channel Logout section 3), and does not tell under which name the session is stored.
func SessionID(digest string) string {
	if digest == "" {
		return ""
	}
	return secret.Digest("sid\x00" + digest)[:32]
}
