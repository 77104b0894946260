package guard

import (
	"net/http"
	"strconv"

	"github.com/gatehouse/gatehouse/module/internal/token"
)

// Reason is why a request passed or was refused: a closed set, suitable as a metric label.
type Reason string

const (
	Public            Reason = "public"
	Valid             Reason = "valid"
	Preflight         Reason = "preflight"
	NoCredentials     Reason = "no_credentials"
	InvalidToken      Reason = "invalid_token"
	InsufficientScope Reason = "insufficient_scope"
	NoRule            Reason = "no_rule"
	BadRequest        Reason = "bad_request"
	Limited           Reason = "limited"
	Unavailable       Reason = "unavailable"
	Overloaded        Reason = "overloaded"
)

// Reasons lists all Reason values.
var Reasons = []Reason{
	Public, Valid, Preflight, NoCredentials, InvalidToken, InsufficientScope, NoRule, BadRequest, Limited, Unavailable, Overloaded,
}

// Decision is what the guard decided. Status, Code and Message are set when the request
// does not pass; the guard's own answer to a preflight is 204 and has no code. A preflight
// that passes MUST go through StripPreflight.
type Decision struct {
	Allowed bool
	Reason  Reason

	Status     int
	Code       string // of the error envelope
	Message    string // never contains anything the client sent
	Field      string // the query parameter that the error is about, "" for none
	Challenge  string // WWW-Authenticate
	RetryAfter int    // seconds; 0: none
	Allow      string // methods, with a 405

	// Access is the token's content; nil unless Reason is Valid. It is shared: do not
	// change it.
	Access *token.Access

	// Refusal says which check the token failed; "" unless Reason is InvalidToken. It is for
	// the operator: the client is not told.
	Refusal token.Refusal

	// Refused is the content of a genuine token that was refused, for the log. It is nil when
	// nothing proves that the token was ever ours. It is shared: do not change it.
	Refused *token.Access

	// ForgeryAlarm is set once for an address that exceeds the limit of forged tokens.
	ForgeryAlarm bool

	// Path is the escaped path that was judged and must be sent upstream (SetPath), "" when
	// the request already has it.
	Path string

	// Redact says that the query, or that of the Referer, contains an access token, which must
	// not be logged.
	Redact bool

	// Rule is the index of the rule that decided, -1 for none. For a preflight that passes
	// it is the rule of the request that the preflight asks about.
	Rule int

	// Err is the technical reason of Unavailable, for the log.
	Err error
}

// SetHeader sets the decision's fields in a response header.
func (d *Decision) SetHeader(h http.Header) {
	if d.Redact {
		h.Set("Referrer-Policy", "no-referrer") // a browser asks for /favicon.ico next
	}
	if d.Challenge != "" {
		h.Set("WWW-Authenticate", d.Challenge)
	}
	if d.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(d.RetryAfter))
	}
	if d.Allow != "" {
		h.Set("Allow", d.Allow)
	}
}

func (d Decision) refuse(why Reason, status int, code, message string) Decision {
	d.Reason, d.Status, d.Code, d.Message = why, status, code, message
	return d
}

func (d Decision) pass(why Reason) Decision {
	d.Allowed, d.Reason = true, why
	return d
}
