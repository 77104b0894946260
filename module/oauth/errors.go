package oauth

import (
	"net/http"
	"time"
)

// Code is the error member of a protocol response.
type Code string

// The error codes and where each is defined.
const (
	InvalidRequest          Code = "invalid_request"           // RFC 6749 4.1.2.1, 5.2; RFC 6750 3.1
	InvalidClient           Code = "invalid_client"            // RFC 6749 5.2
	InvalidGrant            Code = "invalid_grant"             // RFC 6749 5.2
	UnauthorizedClient      Code = "unauthorized_client"       // RFC 6749 4.1.2.1, 5.2
	UnsupportedGrantType    Code = "unsupported_grant_type"    // RFC 6749 5.2
	UnsupportedResponseType Code = "unsupported_response_type" // RFC 6749 4.1.2.1
	InvalidScope            Code = "invalid_scope"             // RFC 6749 4.1.2.1, 5.2
	AccessDenied            Code = "access_denied"             // RFC 6749 4.1.2.1
	ServerError             Code = "server_error"              // RFC 6749 4.1.2.1
	TemporarilyUnavailable  Code = "temporarily_unavailable"   // RFC 6749 4.1.2.1
	InvalidToken            Code = "invalid_token"             // RFC 6750 3.1
	InsufficientScope       Code = "insufficient_scope"        // RFC 6750 3.1
	InvalidTarget           Code = "invalid_target"            // RFC 8707 2
	RequestNotSupported     Code = "request_not_supported"     // OpenID Connect Core 3.1.2.6
	RequestURINotSupported  Code = "request_uri_not_supported" // OpenID Connect Core 3.1.2.6
	RegistrationUnsupported Code = "registration_not_supported"
	InvalidRedirectURI      Code = "invalid_redirect_uri"    // RFC 7591 3.2.2
	InvalidClientMetadata   Code = "invalid_client_metadata" // RFC 7591 3.2.2
	LoginRequired           Code = "login_required"          // OpenID Connect Core 3.1.2.6
	ConsentRequired         Code = "consent_required"        // OpenID Connect Core 3.1.2.6
	AuthorizationPending    Code = "authorization_pending"   // RFC 8628 3.5
	ExpiredToken            Code = "expired_token"           // RFC 8628 3.5
	SlowDown                Code = "slow_down"               // RFC 8628 3.5; here also: too many failed attempts
)

// Error is a refusal with three texts: the code for the client's program, the description for its developer, and the
// cause for the operator's log, which never leaves the gateway. Its methods return changed copies.
type Error struct {
	Code        Code
	Description string
	// Field is the parameter or member that is wrong, "" for none in particular.
	Field string
	// Status is the HTTP status of JSON responses.
	Status int
	// RetryAfter in seconds, 0 for none.
	RetryAfter int
	Cause      error
}

// E makes an error with the status that RFC 6749 section 5.2 gives its code.
func E(code Code, description string) *Error {
	status := http.StatusBadRequest
	switch code {
	case InvalidClient, InvalidToken:
		status = http.StatusUnauthorized
	case InsufficientScope:
		status = http.StatusForbidden
	case ServerError:
		status = http.StatusInternalServerError
	case TemporarilyUnavailable:
		status = http.StatusServiceUnavailable
	case SlowDown:
		status = http.StatusTooManyRequests
	}
	return &Error{Code: code, Description: description, Field: fields[code], Status: status}
}

// fields are the parameters that some codes are about.
var fields = map[Code]string{
	UnsupportedGrantType: "grant_type", UnsupportedResponseType: "response_type", InvalidScope: "scope", InvalidTarget: "resource",
}

// Parameter makes an invalid_request about one parameter; what says what is wrong with it, such as "is missing".
func Parameter(name, what string) *Error { return E(InvalidRequest, name+" "+what).About(name) }

// Unavailable is the response to a storage or directory fault, which must never look like an authentication result.
func Unavailable(cause error) *Error {
	e := E(TemporarilyUnavailable, "the service is temporarily unavailable, try again")
	e.RetryAfter, e.Cause = 1, cause
	return e
}

// TooMany refuses one attempt too many; retry is how long the next has to wait.
func TooMany(description string, retry time.Duration) *Error {
	e := E(SlowDown, description)
	e.RetryAfter = Seconds(retry)
	return e
}

// Seconds is the value of Retry-After for a wait, rounded up: a client that returns after that
// time must not be refused for coming too early.
func Seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }

// with returns a changed copy.
func (e *Error) with(change func(*Error)) *Error {
	c := *e
	change(&c)
	return &c
}

// About returns a copy that names the parameter or member which is wrong.
func (e *Error) About(field string) *Error { return e.with(func(c *Error) { c.Field = field }) }

// WithStatus returns a copy with another HTTP status.
func (e *Error) WithStatus(status int) *Error { return e.with(func(c *Error) { c.Status = status }) }

// WithCause returns a copy with a text for the operator.
func (e *Error) WithCause(cause error) *Error { return e.with(func(c *Error) { c.Cause = cause }) }

func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Description
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Cause }
