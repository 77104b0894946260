package watch

import "time"

// The outcomes of a request.
const (
	Allowed = "allowed" // passed on, or answered by the authorization server
	Refused = "refused" // by the gateway; Reason says why
	Failed  = "failed"  // allowed, and answered with a status of 500 or more
)

// Outcomes are all of them.
var Outcomes = []string{Allowed, Refused, Failed}

// Decision is what became of one request. It contains no credentials, no query and no value of a header field.
// Method, Host and Path are what the client sent, shortened; whoever shows them MUST neutralize control characters.
type Decision struct {
	Time    time.Time `json:"time"` // when the request came
	Client  string    `json:"client,omitempty"`
	User    string    `json:"user,omitempty"`
	Address string    `json:"address,omitempty"`
	Method  string    `json:"method"`
	Host    string    `json:"host,omitempty"`
	Path    string    `json:"path"`
	Route   string    `json:"route,omitempty"` // the rule of the guard that matched
	Outcome string    `json:"outcome"`         // one of [Outcomes]
	Status  int       `json:"status"`          // 0 if the handler does not see the answer
	Reason  string    `json:"reason,omitempty"`
	// Limit is what the rate limit reported to the client has left, nil without one.
	Limit *Limit `json:"limit,omitempty"`
	// Milliseconds is the latency, until the answer was complete.
	Milliseconds float64 `json:"duration_ms"`
}

// Limit is what is left of a rate limit.
type Limit struct {
	Policy    string `json:"policy"`
	Max       int64  `json:"max"`
	Remaining int64  `json:"remaining"`
	Reset     int64  `json:"reset"` // epoch seconds
}

// Line is one line of the stream: a decision, or one of the other members. An empty line shows that the
// gateway lives.
type Line struct {
	*Decision
	Started time.Time `json:"started,omitzero"` // the first line: from now on nothing is missed
	Lost    int64     `json:"lost,omitempty"`   // so many more decisions did not fit in the buffer
	End     string    `json:"end,omitempty"`    // the last line: [EndReload] or [EndStopping]
}

// Why a stream ends.
const (
	EndReload   = "reload"   // another configuration is loaded, and the next stream begins at once
	EndStopping = "stopping" // the gateway ends, or its configuration does
)

// The longest texts in a decision, in bytes.
const (
	maxMethod = 16
	maxHost   = 100
	maxPath   = 256
	maxID     = 128
)
