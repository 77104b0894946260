package httpx

import "net/http"

// TooEarly is the message of a 425.
const TooEarly = "this request came in early data, which anybody can send again: repeat it on the established connection"

// IsEarly reports whether a request came in TLS early data (0-RTT), here or at a proxy in front
// (RFC 8470). An eavesdropper can replay early data, and until the handshake is complete nothing
// proves that the source address is the sender's.
func IsEarly(r *http.Request) bool {
	return r.TLS != nil && !r.TLS.HandshakeComplete || len(r.Header["Early-Data"]) > 0
}
