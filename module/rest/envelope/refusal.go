package envelope

import (
	"net/http"
	"strconv"
)

// Refusal is a request that is answered without, or instead of, the upstream. An empty
// Code or Message stands for the one of the status; a 400 with a Field has the code
// invalid_parameter.
type Refusal struct {
	Status  int
	Code    string
	Message string
	Field   string
	Header  http.Header // what goes with the answer: Allow, Retry-After; may be nil
}

// Error is for logs. It may hold what the client sent.
func (r *Refusal) Error() string {
	e := Error{r.Code, r.Message, r.Field}.complete(r.Status)
	text := strconv.Itoa(r.Status) + " " + e.Code + ": " + e.Message
	if e.Field != "" {
		text += " (" + strconv.Quote(e.Field) + ")"
	}
	return text
}

// Told is what the client is told.
func (r *Refusal) Told() Error { return Error{r.Code, r.Message, r.Field} }

// Refuse is a refusal with the code of its status.
func Refuse(status int, message string) *Refusal {
	return &Refusal{Status: status, Message: message}
}

// Invalid is the refusal of a parameter, or of a member of a body. fault says what is wrong
// with it, as in "must be a number from 1 to 50": the message begins with the field's name, so
// that it makes sense alone.
func Invalid(field, fault string) *Refusal {
	name := field
	if name == "" {
		name = "the request"
	}
	return &Refusal{Status: http.StatusBadRequest, Message: name + " " + fault, Field: field}
}

// TokenInForm refuses an access token among the parameters of a form (RFC 6750 section 2.2):
// the one that was judged is in the header, and an upstream might take this one.
func TokenInForm() *Refusal {
	return &Refusal{
		Status: http.StatusBadRequest, Code: "invalid_request", Field: "access_token",
		Message: "access_token belongs in the Authorization header, not in the body",
	}
}
