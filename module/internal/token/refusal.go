package token

import (
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
)

// ErrInvalid is returned for a token that is not acceptable now: malformed, forged, expired, revoked, of another type
// or issuer. Any other error of a verifier is technical: the answer is 503.
var ErrInvalid = errors.New("token: invalid")

// ErrOver is the [ErrInvalid] of a token that is genuine but dead: expired or revoked. Such a token was not guessed.
var ErrOver = fmt.Errorf("%w: over", ErrInvalid)

// ErrExpired is the [ErrOver] of a token that has expired.
var ErrExpired = fmt.Errorf("%w: expired", ErrOver)

// The errors of tokens. Their texts are fixed, so that nothing of a token reaches a log.
var (
	errSize      = refuse(Malformed, "too long")
	errForm      = refuse(Malformed, "not a JWS of three parts")
	errHeader    = refuse(Malformed, "malformed header")
	errType      = refuse(WrongType, "not an access token")
	errNotID     = refuse(WrongType, "not an id_token")
	errAlgorithm = refuse(BadSignature, "algorithm does not fit the key")
	errClaims    = refuse(BadClaims, "malformed claims")
	errKey       = refuse(UnknownKey, "unknown key")
	errSignature = refuse(BadSignature, "bad signature")
	errEarly     = refuse(NotYetValid, "not valid yet")
	errIssuer    = refuse(WrongIssuer, "of another issuer") // of an id_token
	errUser      = refuse(BadClaims, "its user cannot be read")
	errExpired   = &RefusedError{Refusal: Expired, cause: ErrExpired}
	errRevoked   = &RefusedError{Refusal: Revoked, cause: fmt.Errorf("%w: revoked", ErrOver)}
)

// Refusal says which check an access token failed: a closed set, fit for a metric's label.
type Refusal string

// The refusals, in the order in which the checks run.
const (
	Malformed     Refusal = "malformed"      // not a JWS of ours: form, length or header
	WrongType     Refusal = "wrong_type"     // a JWT that is no access token, such as an id_token
	UnknownKey    Refusal = "unknown_key"    // signed by a key that is not, or no longer, in the ring
	BadSignature  Refusal = "bad_signature"  // the signature or its algorithm does not fit the key
	BadClaims     Refusal = "bad_claims"     // genuine, but a claim is missing, malformed or too long
	Expired       Refusal = "expired"        // exp has passed
	NotYetValid   Refusal = "not_yet_valid"  // iat or nbf is more than Leeway ahead
	Revoked       Refusal = "revoked"        // itself, its grant, its client or its user
	ClientGone    Refusal = "client_gone"    // its client is no longer configured or registered
	UserGone      Refusal = "user_gone"      // its user was locked or deleted
	WrongIssuer   Refusal = "wrong_issuer"   // iss is not the issuer of the guard
	WrongAudience Refusal = "wrong_audience" // aud does not contain the audience of the guard
	OtherRefusal  Refusal = "other"          // a verifier gave no reason
)

// Refusals are all of them.
var Refusals = []Refusal{
	Malformed, WrongType, UnknownKey, BadSignature, BadClaims, Expired, NotYetValid, Revoked, ClientGone, UserGone,
	WrongIssuer, WrongAudience, OtherRefusal,
}

// Forged reports whether a token with this refusal was never ours. Honest clients present tokens that have expired or
// were revoked until they have refreshed them.
func (r Refusal) Forged() bool { return r == Malformed || r == BadSignature }

// RefusedError is an [ErrInvalid] with its reason.
type RefusedError struct {
	Refusal Refusal
	// Access is the content of a genuine token; nil when the signature was not checked or is not ours, because a
	// stranger may have written such a token. It is shared: do not change it.
	Access *Access

	cause error
}

func (e *RefusedError) Error() string { return e.cause.Error() }

// Unwrap makes errors.Is find [ErrInvalid], [ErrOver] and [ErrExpired].
func (e *RefusedError) Unwrap() error { return e.cause }

// Refuse returns the error of a check outside of this package. a is the content of a genuine token, else nil.
func Refuse(why Refusal, a *Access) error {
	cause := ErrInvalid
	switch why {
	case Expired:
		cause = ErrExpired
	case Revoked, ClientGone, UserGone:
		cause = ErrOver
	}
	return &RefusedError{Refusal: why, Access: a, cause: fmt.Errorf("%w: %s", cause, why)}
}

// AliveElsewhere returns the content of a genuine token that was refused only by the clock of this node: it was issued
// in the future, or expired less than Leeway ago. By the clock of another node it may be alive. Else nil.
func AliveElsewhere(err error, now time.Time) *Access {
	e, ok := errors.AsType[*RefusedError](err)
	if !ok || e.Access == nil {
		return nil
	}
	if e.Refusal == NotYetValid || e.Refusal == Expired && now.Before(e.Access.Expires.Add(jose.Leeway)) {
		return e.Access
	}
	return nil
}

// RevokedBefore returns the content of a genuine token that was refused because it is revoked, else nil.
func RevokedBefore(err error) *Access {
	if e, ok := errors.AsType[*RefusedError](err); ok && e.Refusal == Revoked {
		return e.Access
	}
	return nil
}

// of is the refusal of a genuine token with this content.
func (e *RefusedError) of(a *Access) error {
	return &RefusedError{Refusal: e.Refusal, Access: a, cause: e}
}

func refuse(why Refusal, text string) *RefusedError {
	return &RefusedError{Refusal: why, cause: fmt.Errorf("%w: %s", ErrInvalid, text)}
}
