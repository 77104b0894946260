package envelope

import "net/http"

// InvalidParameter is the code of a 400 that names a field, UpstreamAuthFailed the
// one of a 502 in place of an upstream's own 401 or 403.
const (
	InvalidParameter   = "invalid_parameter"
	UpstreamAuthFailed = "upstream_auth_failed"
)

// Entry is the code of a status and its text when nothing better is known.
type Entry struct {
	Status  int
	Code    string
	Message string
}

// Codes are the statuses with a code of their own. Any other 4xx has the code of
// 400, anything else the code of 500.
var Codes = []Entry{
	{http.StatusBadRequest, "bad_request", "The request is not valid."},
	{http.StatusUnauthorized, "unauthorized", "Valid credentials are needed."},
	{http.StatusForbidden, "forbidden", "This is not permitted."},
	{http.StatusNotFound, "not_found", "There is nothing at this address."},
	{http.StatusMethodNotAllowed, "method_not_allowed", "This address does not support the method."},
	{http.StatusNotAcceptable, "not_acceptable", "None of the accepted representations is available."},
	{http.StatusConflict, "conflict", "The request conflicts with the present state."},
	{http.StatusGone, "gone", "This is no longer available."},
	{http.StatusPreconditionFailed, "precondition_failed", "A condition of the request does not hold."},
	{http.StatusRequestEntityTooLarge, "payload_too_large", "The request body is too large."},
	{http.StatusUnsupportedMediaType, "unsupported_media_type", "The media type of the request body is not supported."},
	{http.StatusUnprocessableEntity, "validation_failed", "The content of the request is not valid."},
	{http.StatusTooManyRequests, "rate_limited", "Too many requests, try again later."},
	{http.StatusInternalServerError, "upstream_error", "The request could not be processed."},
	{http.StatusBadGateway, "upstream_unreachable", "The service behind the gateway cannot be reached."},
	{http.StatusServiceUnavailable, "unavailable", "The service is temporarily unavailable, try again later."},
	{http.StatusGatewayTimeout, "upstream_timeout", "The service behind the gateway did not answer in time."},
}

// Lookup gives the entry of a status, or the one of its class.
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
