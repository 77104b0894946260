package guard

import (
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// isPreflight recognises what a browser sends before a cross-origin request
// (Fetch, section 3.2.2): never with credentials or a body. Over HTTP/2 and HTTP/3 a request
// without a Content-Length may still have a body, which is not passed on.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.ContentLength <= 0 && len(r.TransferEncoding) == 0 && len(r.Header["Authorization"]) == 0 &&
		r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// askedMethod returns the method that a preflight asks about, if it may go upstream.
func askedMethod(h http.Header) (method string, ok bool) {
	asked := h["Access-Control-Request-Method"]
	if len(asked) != 1 || !wellFormedMethod(asked[0]) || refusedMethod(asked[0]) {
		return "", false
	}
	return asked[0], true
}

// preflightRate is how many preflights of one address reach the upstream. Nothing else
// about a preflight identifies its sender, so limits by client or user do not count it.
// The window is short because many browsers may share an address, and a browser sends
// one preflight for each URL until the upstream's Access-Control-Max-Age lets it stop.
var preflightRate = lockout.Rule{Limit: 100, Window: 10 * time.Second}

// passPreflight decides a preflight that the upstream is to answer. It passes only if
// the request that it asks about could pass with the right token: a rule matches that
// method and path, or any valid token passes.
func (g *Guard) passPreflight(r *http.Request, d Decision, path normalPath) Decision {
	asked, ok := askedMethod(r.Header)
	if !ok {
		return d.refuse(NoRule, http.StatusForbidden, "forbidden", noPreflight)
	}
	var needed *rule
	var safe bool
	if d.Rule, needed, safe = g.ruleFor(asked, path); !safe {
		return d.refuse(BadRequest, http.StatusBadRequest, "bad_request", encodedSlash)
	}
	if needed == nil {
		return d.refuse(NoRule, http.StatusForbidden, "forbidden", noPreflight)
	}
	if g.config.Attempts != nil {
		if ok, retry := g.config.Attempts.Take("preflight:"+httpx.AddressKey(g.config.ClientIP(r)), preflightRate); !ok {
			d.RetryAfter = oauth.Seconds(retry)
			return d.refuse(Limited, http.StatusTooManyRequests, "rate_limited", "too many CORS preflights from this address")
		}
	}
	return d.pass(Preflight)
}

const noPreflight = "no rule permits this CORS preflight"

// preflightFields are the header fields of a preflight that an upstream may see: those of
// the Fetch standard, and what proxies and tracing add. The list names what is kept, because
// credentials travel in fields of any name.
var preflightFields = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Accept-Language": true, "Cache-Control": true, "Pragma": true, "User-Agent": true,
	"Origin": true, "Access-Control-Request-Method": true, "Access-Control-Request-Headers": true,
	"Access-Control-Request-Local-Network": true, "Access-Control-Request-Private-Network": true,
	"Sec-Fetch-Dest": true, "Sec-Fetch-Mode": true, "Sec-Fetch-Site": true,
	"Forwarded": true, "Via": true, "X-Forwarded-For": true, "X-Forwarded-Host": true, "X-Forwarded-Proto": true,
	"Traceparent": true, "Tracestate": true, "X-Request-Id": true,
}

// StripPreflight removes from a preflight that goes upstream everything but method, path
// and the fields that CORS needs: no query, no cookies, no credentials, no body. It changes
// URL and header in place, since other copies of the request share them.
func StripPreflight(r *http.Request) {
	r.URL.RawQuery, r.URL.ForceQuery = "", false
	r.RequestURI = r.URL.RequestURI()
	for name := range r.Header {
		if !preflightFields[name] {
			delete(r.Header, name)
		}
	}
	r.Body, r.ContentLength, r.TransferEncoding, r.Trailer = http.NoBody, 0, nil, nil
}
