package authserver

import (
	"encoding/json"
	"slices"

	"github.com/gatehouse/gatehouse/module/directory"
)

// claimKind is the JSON type that OpenID Connect Core section 5.1 gives a claim: relying
// parties in typed languages refuse the whole answer when one claim has another.
type claimKind int

const (
	textClaim claimKind = iota
	boolClaim
	numberClaim
	objectClaim
)

// scopeClaims are the standard claims about a user by the scope that asks for them
// (OpenID Connect Core section 5.4). What a directory says under any other name is for
// nobody who comes with a token: those attributes are the operator's own.
var scopeClaims = []struct {
	scope  string
	claims []standardClaim
}{
	{"profile", []standardClaim{
		{"name", textClaim}, {"given_name", textClaim}, {"family_name", textClaim}, {"middle_name", textClaim},
		{"nickname", textClaim}, {"preferred_username", textClaim}, {"profile", textClaim}, {"picture", textClaim},
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

// userClaims is what these scopes tell about a user. What the directory knows as a field
// counts before a claim of the same name; what it does not know is left out.
func userClaims(u directory.User, scopes []string) map[string]any {
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
			} else if value, ok := u.Claims[c.name]; ok && c.kind.fits(value) {
				told[c.name] = value
			}
		}
	}
	// Verified is what the field says, so it says nothing where that is absent.
	for verified, of := range map[string]string{"email_verified": "email", "phone_number_verified": "phone_number"} {
		if told[of] == nil {
			delete(told, verified)
		}
	}
	return told
}

func (k claimKind) fits(value any) bool {
	switch v := value.(type) {
	case string:
		return k == textClaim && v != ""
	case bool:
		return k == boolClaim
	case map[string]any:
		return k == objectClaim
	case json.Number, float64, float32, int, int64, int32, uint64, uint32:
		return k == numberClaim
	}
	return false
}

// claimsSupported lists what an id_token or /userinfo may say when these scopes can be
// asked for.
func claimsSupported(scopes []string) []string {
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
