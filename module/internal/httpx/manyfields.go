package httpx

import "net/http"

// TooManyFields is the message of a 431.
const TooManyFields = "the request has too many header fields"

// mostFields is how many header fields a client may send where the gateway and its proxy add their own: Lua in nginx
// (ngx.req.get_headers) reads the first hundred of a request, Node.js the first thousand, and both silently leave out
// the rest.
const mostFields = 80

// HasTooManyFields reports whether a request has so many header fields that an upstream might not read all of them.
func HasTooManyFields(r *http.Request) bool {
	n := 0
	for _, values := range r.Header {
		n += len(values)
	}
	return n > mostFields
}
