package conditional

import (
	"maps"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
)

// sendOnDemand sends a change without a condition and, if the API demands one (428, RFC 6585), once more with its
// weak tag. An API that compares as RFC 9110 says would always answer 412 to that, so others never get it.
func (t *Tags) sendOnDemand(w http.ResponseWriter, c *operation.Call, weak string, next operation.Handler) error {
	again, replayable, release := t.bodies.Replay(c.Request, t.maxBody)
	defer release()
	if !replayable {
		return next(w, c)
	}
	held := responsewriter.NewHold(w, 0)
	held.Decide = func() {
		if held.Status() != http.StatusPreconditionRequired {
			_ = held.Pass() // the next write tells of a client that has gone
		}
	}
	held.Full = func() bool { return true } // the client never sees the demand
	own := *c
	own.Request = again()
	own.Asked.Header = own.Request.Header
	if err := next(held, &own); err != nil {
		return operation.HeldError(held, err)
	}
	if held.Passed() || held.Status() == 0 {
		return nil
	}
	clear(w.Header())
	maps.Copy(w.Header(), held.Before())
	own.Request = again()
	own.Asked.Header = own.Request.Header
	own.OnRequest = func(r *http.Request) { r.Header.Set("If-Match", weak) }
	return next(w, &own)
}
