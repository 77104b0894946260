package headers

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	caddyheaders "github.com/caddyserver/caddy/v2/modules/caddyhttp/headers"
	"golang.org/x/net/http/httpguts"

	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// headerEffect is what a header does to responses that it should leave alone.
type headerEffect struct {
	field     string // by which caches may store a response, or give it to others; "" if there is none
	pagesOnly bool   // not to refusals
}

// responses are those that a header is applied to.
type responses func(status int, h http.Header) bool

func everyResponse(int, http.Header) bool { return true }

// responsesThat returns those that a matcher lets through; nil lets every one through.
func responsesThat(match *caddyhttp.ResponseMatcher) responses {
	if match == nil {
		return everyResponse
	}
	return match.Match
}

// deferredEffect returns the effect of a handler headers on responses of the handlers behind it. Where it looks at the response, it is
// deferred, too.
func deferredEffect(raw json.RawMessage) headerEffect {
	ops, ok := responseOps(raw)
	if !ok || !ops.Deferred && ops.Require == nil {
		return headerEffect{}
	}
	return effectOf(ops, everyResponse)
}

func responseOps(raw json.RawMessage) (*caddyheaders.RespHeaderOps, bool) {
	var header caddyheaders.Handler
	err := json.Unmarshal(raw, &header)
	return header.Response, err == nil && header.Response != nil
}

// effectOf returns what a header does to those of the responses that it is for.
func effectOf(ops *caddyheaders.RespHeaderOps, among responses) headerEffect {
	applies := func(status int, h http.Header) bool {
		return among(status, h) && (ops.Require == nil || ops.Require.Match(status, h))
	}
	if !needsNoVary(ops.Require) && losesVary(ops) {
		return headerEffect{field: "Vary"}
	}
	refusals := applyTo(refusalStatus, applies)
	if !refusals && !applyTo(pageStatus, applies) {
		return headerEffect{}
	}
	return headerEffect{storingField(ops), !refusals}
}

// needsNoVary reports whether a header is only for responses without a Vary, which those of the gateway have.
func needsNoVary(m *caddyhttp.ResponseMatcher) bool {
	if m != nil {
		for field, values := range m.Headers {
			if values == nil && strings.EqualFold(field, "Vary") {
				return true
			}
		}
	}
	return false
}

func losesVary(ops *caddyheaders.RespHeaderOps) bool {
	response := http.Header{"Vary": {"Authorization"}}
	ops.ApplyTo(response, caddy.NewEmptyReplacer())
	vary := response["Vary"] // some caches heed only the last line
	return len(vary) == 0 || !httpguts.HeaderValuesContainsToken(vary[len(vary)-1:], "Authorization") && !httpguts.HeaderValuesContainsToken(vary, "*")
}

// What the gateway answers by itself, differently to different callers.
var (
	refusalStatus = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusServiceUnavailable}
	pageStatus    = []int{http.StatusOK, http.StatusFound, http.StatusSeeOther}
	answerTypes   = []string{"application/json", "application/problem+json", "text/html; charset=utf-8", "text/plain; charset=utf-8"}
)

// applyTo reports whether responses of the gateway with one of the statuses are among those.
func applyTo(statuses []int, those responses) bool {
	return slices.ContainsFunc(statuses, func(status int) bool {
		return slices.ContainsFunc(answerTypes, func(media string) bool {
			return those(status, http.Header{"Cache-Control": {"no-store"}, "Vary": {"Authorization, Accept-Encoding"}, "Content-Type": {media}})
		})
	})
}

// storingField returns the field of a header by which caches may store a response, "" if there is none.
func storingField(ops *caddyheaders.RespHeaderOps) string {
	added := make(http.Header)
	ops.ApplyTo(added, caddy.NewEmptyReplacer())
	for _, field := range explain.SortedKeys(added) {
		if httpx.IsStorable(added) && httpx.IsStorable(http.Header{field: added[field]}) {
			return field
		}
	}
	refusal := http.Header{"Cache-Control": {"no-store"}}
	ops.ApplyTo(refusal, caddy.NewEmptyReplacer())
	refusal.Set("Expires", "0") // so that only Cache-Control can forbid it
	if httpx.IsStorable(refusal) {
		return "Cache-Control"
	}
	return ""
}
