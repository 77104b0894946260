package token

import (
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// maxSize bounds an access token before anything else looks at it. Ours are below 1 KiB.
	maxSize = 8 << 10
	// accessType is the typ of RFC 9068 section 2.1. It keeps ID tokens and other JWTs of the same keys from passing
	// for access tokens.
	accessType = "at+jwt"
)

// Access is the content of an access token, a JWT by RFC 9068 with the header typ "at+jwt". Values returned by a
// verifier are shared and must not be changed.
type Access struct {
	ID       string // jti
	Issuer   string // iss
	Subject  string // sub; "client:<id>" for client credentials
	Audience []string
	// Pairwise is what stands in sub instead of Subject, "" for Subject itself. The Subject then travels sealed, so
	// that the client learns the pairwise name alone.
	Pairwise string
	Client   string // client_id
	Scopes   []string
	Grant    string // fam, the grant family; "" for client credentials
	// Epochs are those of the grant: they tell a token from before the end of its user from a later one, whatever the
	// clocks say.
	Epochs   store.Epochs
	IssuedAt Seconds
	Expires  time.Time // whole seconds
	KeyID    string    // kid of the header; set by the verifier
}

// Seconds are those since the epoch: a time in a third of the memory of a [time.Time], for what verifiers hold by the
// hundred thousand.
type Seconds int64

// SecondsOf returns the seconds of a time, 0 for the zero time.
func SecondsOf(t time.Time) Seconds {
	if t.IsZero() {
		return 0
	}
	return Seconds(t.Unix())
}

// Time is the time of the seconds.
func (s Seconds) Time() time.Time { return time.Unix(int64(s), 0) }

// ClientSubject is the prefix of the subject of a token that a client got for itself. No user may have an ID that
// begins with it.
const ClientSubject = "client:"

// AudienceClaim is how an audience is written: one as a string, several in an array (RFC 7519 section 4.1.3).
func AudienceClaim(all []string) any {
	if len(all) == 1 {
		return all[0]
	}
	return all
}

// accessClaims is the payload of an access token.
type accessClaims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience any    `json:"aud"`
	Client   string `json:"client_id"`
	ID       string `json:"jti"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	Scope    string `json:"scope,omitempty"`
	Grant    string `json:"fam,omitempty"`
	Sealed   string `json:"sealed_sub,omitempty"`

	SubjectEpoch int64 `json:"epoch_sub,omitempty"`
	PairEpoch    int64 `json:"epoch_pair,omitempty"`
}

func isAccessType(typ string) bool {
	return strings.EqualFold(typ, accessType) || strings.EqualFold(typ, "application/"+accessType)
}

// parsed is an access token's content, with what only the verifier uses.
type parsed struct {
	Access
	sealed    string    // the user, when sub is a pairwise name; "" otherwise
	notBefore time.Time // zero: no nbf
}

// parseClaims reads the claims of RFC 9068 section 2.2. It must only be called once the signature is verified.
func parseClaims(encoded string) (p parsed, ok bool) {
	c := jose.DecodeClaims(encoded)
	p.Issuer, p.Subject, p.Client, p.ID = c.Text("iss"), c.Text("sub"), c.Text("client_id"), c.Text("jti")
	p.Grant, p.Scopes = c.OptionalText("fam"), strings.Fields(c.OptionalText("scope"))
	p.sealed = c.OptionalText("sealed_sub")
	p.Epochs.Subject, p.Epochs.Pair = c.OptionalCount("epoch_sub"), c.OptionalCount("epoch_pair")
	p.IssuedAt, p.Expires, p.notBefore = SecondsOf(c.Date("iat")), c.Date("exp"), c.OptionalDate("nbf")
	p.Audience = c.Audience()
	return p, c.OK
}
