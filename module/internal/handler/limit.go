package handler

import (
	"net/http"
	"slices"
)

// limitPrefix begins the names of the placeholders about that decision.
const limitPrefix = "http.api_limit."

// LimitPlaceholders are the names of the placeholders behind their prefix.
var LimitPlaceholders = []string{"policy", "by", "limit", "remaining", "reset", "retry_after", "result"}

// LimitDecision is what an api_limit decided on a request. LimitValue gives the value of one of
// [LimitPlaceholders], "" for what does not apply.
type LimitDecision interface{ LimitValue(name string) any }

// SetLimitDecision records the decision of a limit on a request, for placeholders and for limits
// behind it.
func SetLimitDecision(r *http.Request, d LimitDecision) { factsToAdd(r).limit = d }

// LastLimitDecision is the last one that was recorded, nil without one.
func LastLimitDecision(r *http.Request) LimitDecision { return factsOf(r).limit }

func (f *facts) limitValue(name string) (any, bool) {
	if !slices.Contains(LimitPlaceholders, name) {
		return nil, false
	}
	if f.limit != nil {
		return f.limit.LimitValue(name), true
	}
	return "", true
}
