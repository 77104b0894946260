package handler

import (
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/internal/watch"
)

// Observation follows one request for those who watch the gateway's decisions. The outermost of the gateway's
// handlers begins and ends it; those behind add what they decide.
type Observation struct {
	// Writer MUST be used for the answer.
	Writer caddyhttp.ResponseRecorder

	feed      *watch.Feed
	facts     *facts
	begun     time.Time
	decided   bool // by a guard, a limit or the authorization server
	own       bool // by the authorization server, whose 4xx are refusals
	refused   bool
	published bool
	d         watch.Decision
}

// partOfAnother marks a request that a handler makes for another: it is not observed by itself.
var partOfAnother Observation

// Observe begins to follow a request. It returns nil if nobody watches, or a handler in front follows it already.
// Otherwise the caller MUST call End once the request is answered.
func Observe(feed *watch.Feed, w http.ResponseWriter, r *http.Request) *Observation {
	if !feed.Watched() {
		return nil
	}
	o := ObserveUnseen(feed, r)
	if o != nil {
		o.Writer = caddyhttp.NewResponseRecorder(w, nil, nil)
	}
	return o
}

// ObserveUnseen is Observe for a handler that does not see the answer. It MUST call EndUnseen.
func ObserveUnseen(feed *watch.Feed, r *http.Request) *Observation {
	if !feed.Watched() {
		return nil
	}
	f := factsToAdd(r)
	if f.observed != nil {
		return nil
	}
	o := &Observation{feed: feed, facts: f, begun: time.Now()}
	path := r.URL.Path
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok && original.URL != nil {
		path = original.URL.Path
	}
	o.d = watch.Decision{Time: o.begun, Address: ClientIP(r), Method: r.Method, Host: r.Host, Path: path}
	f.observed = o
	return o
}

// observed returns the observation of a request to add to, or nil.
func observed(feed *watch.Feed, r *http.Request) *Observation {
	if !feed.Watched() {
		return nil
	}
	if o := factsOf(r).observed; o != &partOfAnother {
		return o
	}
	return nil
}

// GuardDecision is what a guard decided on a request.
type GuardDecision struct {
	Refused bool
	Reason  string        // of a refusal
	Route   string        // the rule that matched, or ""
	Token   *token.Access // the content of a genuine token, accepted or not; may be nil
}

// ObserveGuard adds the decision of a guard.
func ObserveGuard(feed *watch.Feed, r *http.Request, d GuardDecision) {
	o := observed(feed, r)
	if o == nil {
		return
	}
	o.decided, o.d.Route = true, d.Route
	o.refused, o.d.Reason = d.Refused, d.Reason
	o.setCaller(d.Token)
}

// ObserveLimit adds the decision of a limit, which the request has recorded already. status is that of a refusal,
// otherwise 0.
func ObserveLimit(feed *watch.Feed, r *http.Request, status int, reason string) {
	o := observed(feed, r)
	if o == nil {
		return
	}
	o.decided = true
	if status == 0 {
		return
	}
	o.refused, o.d.Reason = true, reason
	if o.published {
		again := *o // the feed has the first
		again.publish(status)
	}
}

// Own says that the authorization server answers the request. path is its path without secrets.
func (o *Observation) Own(path string) { o.d.Path, o.decided, o.own = path, true, true }

func (o *Observation) setCaller(a *token.Access) {
	if a == nil {
		return
	}
	o.d.Client = a.Client
	if !strings.HasPrefix(a.Subject, token.ClientSubject) {
		o.d.User = a.Subject
	}
}

// End publishes what became of the request. err is the error that the handlers left to others to answer, or nil.
func (o *Observation) End(err error) {
	status := http.StatusOK // which net/http sends for an answer of nothing
	if o.Writer != nil && o.Writer.Status() != 0 {
		status = o.Writer.Status()
	} else if err != nil {
		status = StatusOf(err)
	}
	if o.d.Reason == "" && err != nil {
		o.d.Reason = Told(err).Code
	}
	o.publish(status)
}

// EndUnseen publishes the decision on a request whose answer the handler does not see. status is that of a refusal,
// otherwise 0. If a limit behind refuses the request, that is published, too.
func (o *Observation) EndUnseen(status int) { o.publish(status) }

func (o *Observation) publish(status int) {
	if !o.decided {
		return // a page that no guard, limit or authorization server decided on
	}
	o.setCaller(o.facts.access)
	o.d.Status, o.d.Milliseconds = status, float64(time.Since(o.begun).Microseconds())/1000
	switch {
	case o.refused, o.own && status >= http.StatusBadRequest && status < http.StatusInternalServerError:
		o.d.Outcome = watch.Refused
	case status >= http.StatusInternalServerError:
		o.d.Outcome = watch.Failed
	default:
		o.d.Outcome = watch.Allowed
	}
	if last := o.facts.limit; last != nil {
		o.d.Limit = limitOf(last)
	}
	o.published = true
	d := o.d
	o.feed.Publish(&d)
}

// limitOf is nil for a decision without a policy.
func limitOf(d LimitDecision) *watch.Limit {
	l := new(watch.Limit)
	l.Policy, _ = d.LimitValue("policy").(string)
	l.Max, _ = d.LimitValue("limit").(int64)
	l.Remaining, _ = d.LimitValue("remaining").(int64)
	l.Reset, _ = d.LimitValue("reset").(int64)
	if l.Policy == "" {
		return nil
	}
	return l
}
