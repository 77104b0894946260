package token

import (
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// Access is the content of an access token, a JWT by RFC 9068 with the header typ
// "at+jwt". Values returned by a verifier are shared and must not be changed.
type Access struct {
	ID       string // jti
	Issuer   string // iss
	Subject  string // sub; "client:<id>" for client credentials
	Audience []string
	// Pairwise is what stands in sub instead of Subject, "" for Subject itself. The
	// Subject then travels sealed, so that the client learns the pairwise name alone.
	Pairwise string
	Client   string // client_id
	Scopes   []string
	Grant    string // fam, the grant family; "" for client credentials
	// Epochs are those of the grant: a token of before the end of its user is told by them
	// from one of afterwards, in whatever order clocks see the two.
	Epochs   store.Epochs
	IssuedAt time.Time // whole seconds
	Expires  time.Time // whole seconds
	KeyID    string    // kid of the header; set by the verifier
}

// ClientSubject is the prefix of the subject of a token that a client got for
// itself. No user may have an ID that begins with it.
const ClientSubject = "client:"

// ErrInvalid is returned for a token that is not acceptable now: malformed, forged,
// expired, revoked, of another type or issuer. Any other error of a verifier is
// technical: the answer is 503.
var ErrInvalid = errors.New("token: invalid")

// ErrOver is the [ErrInvalid] of a token that is genuine but dead: expired or revoked. No
// guess ends like this.
var ErrOver = fmt.Errorf("%w: over", ErrInvalid)

// ErrExpired is the [ErrOver] of a token whose time is up.
var ErrExpired = fmt.Errorf("%w: expired", ErrOver)

// KeySet is the published form of the key ring: the public keys only.
type KeySet struct {
	JSON []byte // a JWK set, RFC 7517 section 5
	ETag string // strong, quoted
}
