package variantb

import (
	"net/http"
	"strconv"
)

// fault is one way in which a request can fail, and what the client is told: in the words of the gateway's APIs, and
// as a number of the dialect. Some of its libraries read a response without errcode as a success, even if its status
// is 4xx.
type fault struct {
	status  int
	code    string
	message string
	field   string // the parameter it is about, "" for none
	errcode int
	errmsg  string
}

// Error codes.
const (
	invalidParameter = "invalid_parameter"
	invalidGrant     = "invalid_grant"
	invalidClient    = "invalid_client"
	invalidToken     = "invalid_token"
)

// faults lists every fault.
var faults []*fault

func newFault(status int, code, message, field string, errcode int, errmsg string) *fault {
	f := &fault{status, code, message, field, errcode, errmsg}
	faults = append(faults, f)
	return f
}

var (
	noAppID             = newFault(http.StatusBadRequest, invalidParameter, "appid is missing", "appid", 41002, "appid missing")
	noSecret            = newFault(http.StatusBadRequest, invalidParameter, "secret is missing", "secret", 41004, "appsecret missing")
	noCode              = newFault(http.StatusBadRequest, invalidParameter, "code is missing", "code", 41008, "missing code")
	noRefreshToken      = newFault(http.StatusBadRequest, invalidParameter, "refresh_token is missing", "refresh_token", 41003, "refresh_token missing")
	noOpenID            = newFault(http.StatusBadRequest, invalidParameter, "openid is missing", "openid", 41009, "missing openid")
	noAccessToken       = newFault(http.StatusUnauthorized, invalidToken, "access_token is missing", "access_token", 41001, "access_token missing")
	badGrantType        = newFault(http.StatusBadRequest, "unsupported_grant_type", "grant_type is missing or is not the grant type of this address", "grant_type", 40002, "invalid grant_type")
	unknownAppID        = newFault(http.StatusUnauthorized, invalidClient, "appid is unknown", "appid", 40013, "invalid appid")
	wrongSecret         = newFault(http.StatusUnauthorized, invalidClient, "secret is wrong", "secret", 40125, "invalid appsecret")
	badCode             = newFault(http.StatusBadRequest, invalidGrant, "code is invalid", "code", 40029, "invalid code")
	expiredCode         = newFault(http.StatusBadRequest, invalidGrant, "code has expired", "code", 42003, "code expired")
	usedCode            = newFault(http.StatusBadRequest, invalidGrant, "code was used before: the tokens issued for it are revoked", "code", 40163, "code been used")
	badRedirect         = newFault(http.StatusBadRequest, invalidGrant, "redirect_uri differs from that of the authorization request", "redirect_uri", 40029, "invalid code: redirect_uri differs")
	badVerifier         = newFault(http.StatusBadRequest, invalidGrant, "code_verifier is missing, malformed, or does not match the code_challenge of the authorization request", "code_verifier", 40029, "invalid code: code_verifier differs")
	badRefreshToken     = newFault(http.StatusBadRequest, invalidGrant, "refresh_token is invalid", "refresh_token", 40030, "invalid refresh_token")
	expiredRefreshToken = newFault(http.StatusBadRequest, invalidGrant, "refresh_token has expired", "refresh_token", 42002, "refresh_token expired")
	badAccessToken      = newFault(http.StatusUnauthorized, invalidToken, "access_token is invalid or revoked", "access_token", 40001, "invalid credential, access_token is invalid")
	expiredAccessToken  = newFault(http.StatusUnauthorized, invalidToken, "access_token has expired", "access_token", 42001, "access_token expired")
	foreignOpenID       = newFault(http.StatusForbidden, "forbidden", "openid is not that of the access_token", "openid", 40003, "invalid openid")
	noScope             = newFault(http.StatusForbidden, "insufficient_scope", "access_token has neither the scope snsapi_login nor snsapi_userinfo", "", 48001, "api unauthorized")
	ambiguous           = newFault(http.StatusBadRequest, invalidParameter, "a parameter was sent twice with different values", "", 40035, "invalid parameter")
	malformed           = newFault(http.StatusBadRequest, invalidParameter, "the parameters cannot be read", "", 40035, "invalid parameter")
	tooSlow             = newFault(http.StatusRequestTimeout, invalidParameter, "the body took too long to arrive", "", 40035, "invalid parameter")
	tooLarge            = newFault(http.StatusRequestEntityTooLarge, invalidParameter, "the body is too large", "", 40035, "invalid parameter")
	tooLong             = newFault(http.StatusRequestURITooLong, invalidParameter, "the query is too long", "", 40035, "invalid parameter")
	notAForm            = newFault(http.StatusUnsupportedMediaType, invalidParameter, "the body must be application/x-www-form-urlencoded", "", 40035, "invalid parameter")
	noSuchAddress       = newFault(http.StatusNotFound, "not_found", "there is nothing at this address", "", 40066, "invalid url")
	badMethod           = newFault(http.StatusMethodNotAllowed, "method_not_allowed", "this address answers GET and POST only", "", 43002, "require POST method")
	plaintext           = newFault(http.StatusBadRequest, "invalid_request", "this address must be requested over https", "", 43003, "require https")
	tooOften            = newFault(http.StatusTooManyRequests, "rate_limited", "too many attempts, try again later", "", 45009, "reach max api daily quota limit")
	unavailable         = newFault(http.StatusServiceUnavailable, "unavailable", "the service is temporarily unavailable, try again", "", -1, "system error")
	ourFault            = newFault(http.StatusInternalServerError, "server_error", "the request failed", "", -1, "system error")
)

// refusal is a failure of one request.
type refusal struct {
	*fault
	field string // overrides the fault's field unless ""
	retry int    // seconds, 0 for none
	cause error  // for the operator; never leaves the gateway
}

func (r *refusal) Error() string { return r.message }

func (r *refusal) Unwrap() error { return r.cause }

func refuse(f *fault) error { return &refusal{fault: f} }

// faultBody is an error answer.
type faultBody struct {
	Error   faultWords `json:"error"`
	Errcode int        `json:"errcode"`
	Errmsg  string     `json:"errmsg"`
}

// faultWords is the error object of the specification. Field is null if the failure is not about a parameter.
type faultWords struct {
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Field   *string `json:"field"`
}

// write sends the refusal.
func (r *refusal) write(w http.ResponseWriter) {
	f := *r.fault
	if r.field != "" {
		f.field = r.field
		if r.fault == ambiguous {
			f.message = r.field + " was sent twice with different values"
		}
	}
	h := w.Header()
	if r.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(r.retry))
	}
	switch {
	case r.fault == badMethod:
		h.Set("Allow", "GET, POST")
	case f.code == invalidToken: // RFC 9110 section 11.6.1
		h.Set("WWW-Authenticate", "Bearer")
	}
	words := faultWords{Code: f.code, Message: f.message}
	if f.field != "" {
		words.Field = &f.field
	}
	writeJSON(w, f.status, jsonType, faultBody{words, f.errcode, f.errmsg})
}
