package idempotent

import (
	"encoding/json"
	"errors"
	"net/http"
)

// MaxAnswer is the size of an answer that is kept, header and body each. Answers to a
// POST that creates something are small, and each is stored for a day.
const MaxAnswer = 64 << 10

// Answer is what a request was answered with.
type Answer struct {
	Status int         `json:"status"`
	Header http.Header `json:"header,omitempty"`
	Body   []byte      `json:"body,omitempty"`
}

// errTooLarge: the answer is not kept.
var errTooLarge = errors.New("idempotent: the answer is too large to be kept")

// unkept are fields that belong to one answer, or to one connection, or that are secrets.
var unkept = []string{
	"Date", "Set-Cookie", "Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length",
	"Server", "Via", "Age",
}

// keepable reports the fields that can be given again.
func keepable(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range unkept {
		delete(h, name)
	}
	return h
}

func (a Answer) encode() ([]byte, error) {
	if len(a.Body) > MaxAnswer || a.headerSize() > MaxAnswer {
		return nil, errTooLarge
	}
	return json.Marshal(a)
}

func (a Answer) size() int { return a.headerSize() + len(a.Body) }

func (a Answer) headerSize() (size int) {
	for name, values := range a.Header {
		for _, v := range values {
			size += len(name) + len(v)
		}
	}
	return size
}

// Outcome is what an answer's status says of the request.
type Outcome int

// The outcomes.
const (
	// Final: the answer is the request's, also when it was refused.
	Final Outcome = iota
	// Undone: the upstream says that it has not looked at the request, which can be sent again.
	Undone
	// Unknown: nobody knows whether it was carried out.
	Unknown
)

// GivenUp is the status with which Caddy's proxy answers a request that was given up before its
// upstream had answered.
const GivenUp = 499

// OutcomeOf sorts what an upstream answers. An error of its own (500) is an answer, and
// given again; what stands between the gateway and it (502, 504, and 499 where the request was
// given up) tells nothing of the request; and who says 408, 425, 429, 503, or refuses the credentials, has not begun.
func OutcomeOf(status int) Outcome {
	switch status {
	case http.StatusBadGateway, http.StatusGatewayTimeout, GivenUp:
		return Unknown
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusTooEarly,
		http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return Undone
	}
	return Final
}
