package conditional

import (
	"maps"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
)

// maxUnknown is how much of a body whose length is not announced is kept to be sent again.
const maxUnknown = 64 << 10

// sendOnDemand sends a change without a condition and, if the API demands one (428, RFC 6585), once more with its
// weak tag. An API that compares as RFC 9110 says would always answer 412 to that, so others never get it. One that
// has demanded it gets it at once from then on, so that no body need be kept.
func (t *Tags) sendOnDemand(w http.ResponseWriter, c *operation.Call, weak string, next operation.Handler) error {
	demands := t.demands[c.Match.Operation]
	if demands.Load() {
		return t.sendWeak(w, c, weak, next)
	}
	again, replayable, release := t.bodies.Replay(c.Request, t.maxBody, maxUnknown)
	defer release()
	held := responsewriter.NewHold(w, 0)
	held.Decide = func() {
		if held.Status() == http.StatusPreconditionRequired {
			demands.Store(true)
			if replayable {
				return
			}
		}
		_ = held.Pass() // the next write tells of a client that has gone
	}
	held.Full = func() bool { return true } // the client never sees the demand
	if err := next(held, withRequest(c, again())); err != nil {
		return operation.HeldError(held, err)
	}
	if held.Passed() || held.Status() == 0 {
		return nil
	}
	clear(w.Header())
	maps.Copy(w.Header(), held.Before())
	return t.sendWeak(w, withRequest(c, again()), weak, next)
}

// sendWeak sends a change with the weak tag of the API. If that answers 412, it may no longer take such tags, and has
// to demand the next one again.
func (t *Tags) sendWeak(w http.ResponseWriter, c *operation.Call, weak string, next operation.Handler) error {
	held := responsewriter.NewHold(w, 0)
	held.Decide = func() {
		if held.Status() == http.StatusPreconditionFailed {
			t.demands[c.Match.Operation].Store(false)
		}
		_ = held.Pass() // the next write tells of a client that has gone
	}
	own := *c
	own.OnRequest = func(r *http.Request) { r.Header.Set("If-Match", weak) }
	return operation.HeldError(held, next(held, &own))
}

// withRequest returns the call with a copy of its request.
func withRequest(c *operation.Call, r *http.Request) *operation.Call {
	own := *c
	own.Request = r
	own.Asked.Header = r.Header
	return &own
}
