package envelope

import (
	"net/http"
	"strconv"
)

// Refusal says why a request is answered with an error instead of a result: by the gateway
// itself, or in place of the API's response. An empty Code or Message stands for the default of
// the status; a 400 with a Field has the code invalid_parameter.
type Refusal struct {
	Status  int
	Code    string
	Message string
	Field   string
	Header  http.Header // fields of the response, such as Allow and Retry-After; may be nil
	Cause   error       // for the log; never sent
}

// Error is for logs. It may contain what the client sent.
func (r *Refusal) Error() string {
	if r.Cause != nil {
		return r.Code + ": " + r.Cause.Error()
	}
	e := Error{r.Code, r.Message, r.Field}.complete(r.Status)
	text := strconv.Itoa(r.Status) + " " + e.Code + ": " + e.Message
	if e.Field != "" {
		text += " (" + strconv.Quote(e.Field) + ")"
	}
	return text
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Cause }

// Told returns what the client is told.
func (r *Refusal) Told() Error { return Error{r.Code, r.Message, r.Field} }

// Refuse returns a refusal with the code of its status.
func Refuse(status int, message string) *Refusal {
	return &Refusal{Status: status, Message: message}
}

// Fail returns a refusal with a cause for the log.
func Fail(status int, code, message string, cause error) *Refusal {
	return &Refusal{Status: status, Code: code, Message: message, Cause: cause}
}

// Unavailable refuses a request that failed for a technical reason, such as a store that does
// not answer.
func Unavailable(cause error) *Refusal {
	return &Refusal{
		Status: http.StatusServiceUnavailable, Code: "unavailable", Message: "the service is temporarily unavailable, try again",
		Header: http.Header{"Retry-After": {"1"}}, Cause: cause,
	}
}

// Invalid refuses a parameter or a member of a body. fault says what is wrong with it, as in
// "must be a number from 1 to 50": the message begins with the field's name, so that it makes
// sense alone.
func Invalid(field, fault string) *Refusal {
	name := field
	if name == "" {
		name = "the request"
	}
	return &Refusal{Status: http.StatusBadRequest, Message: name + " " + fault, Field: field}
}

// TokenInForm refuses an access token among the parameters of a form (RFC 6750 section 2.2). The
// guard has checked the one in the Authorization header, but the API might use this one.
func TokenInForm() *Refusal {
	return &Refusal{
		Status: http.StatusBadRequest, Code: "invalid_request", Field: "access_token",
		Message: "access_token belongs in the Authorization header, not in the body",
	}
}
