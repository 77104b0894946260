package envelope

import "net/http"

// InvalidParameter is the code of a 400 that names a field. UpstreamAuthFailed is the code of
// the 502 that replaces an upstream's own 401 or 403.
const (
	InvalidParameter   = "invalid_parameter"
	UpstreamAuthFailed = "upstream_auth_failed"
)

// Entry is the code of a status, and the message if there is nothing more specific.
type Entry struct {
	Status  int
	Code    string
	Message string
}

// Codes are the statuses with their own code. Any other 4xx has the code of 400, everything else
// the code of 500.
var Codes = []Entry{
	{http.StatusBadRequest, "bad_request", "the request is not valid"},
	{http.StatusUnauthorized, "unauthorized", "valid credentials are needed"},
	{http.StatusForbidden, "forbidden", "this is not permitted"},
	{http.StatusNotFound, "not_found", "there is nothing at this address"},
	{http.StatusMethodNotAllowed, "method_not_allowed", "this address does not support the method"},
	{http.StatusNotAcceptable, "not_acceptable", "none of the accepted representations is available"},
	{http.StatusConflict, "conflict", "the request conflicts with the present state"},
	{http.StatusGone, "gone", "this is no longer available"},
	{http.StatusPreconditionFailed, "precondition_failed", "a condition of the request does not hold"},
	{http.StatusRequestEntityTooLarge, "payload_too_large", "the request body is too large"},
	{http.StatusUnsupportedMediaType, "unsupported_media_type", "the media type of the request body is not supported"},
	{http.StatusUnprocessableEntity, "validation_failed", "the content of the request is not valid"},
	{http.StatusTooManyRequests, "rate_limited", "too many requests, try again later"},
	{http.StatusInternalServerError, "upstream_error", "the request could not be processed"},
	{http.StatusBadGateway, "upstream_unreachable", "the service behind the gateway cannot be reached"},
	{http.StatusServiceUnavailable, "unavailable", "the service is temporarily unavailable, try again later"},
	{http.StatusGatewayTimeout, "upstream_timeout", "the service behind the gateway did not answer in time"},
}

// Lookup returns the entry of a status, or of its class.
func Lookup(status int) Entry {
	class := http.StatusInternalServerError
	if status < 500 {
		class = http.StatusBadRequest
	}
	var general Entry
	for _, e := range Codes {
		if e.Status == status {
			return e
		}
		if e.Status == class {
			general = e
		}
	}
	return general
}
