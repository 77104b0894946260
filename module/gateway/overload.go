package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/admission"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/metrics"
)

// overload refuses requests when the process has more than it can answer in time. There is
// one for the process, because its processors are shared by all configurations and sites.
type overload struct {
	gate     *admission.Gate
	cooldown *admission.Cooldown
	refused  []metrics.Counter // by class
	held     atomic.Int64
	log      *slog.Logger
	logged   atomic.Int64 // when, in nanoseconds since the epoch
}

// overloads is the pool of the one.
var overloads = caddy.NewUsagePool()

func newOverload() (*overload, error) {
	o := &overload{gate: admission.New(), cooldown: admission.NewCooldown(), log: logger("overload")}
	for _, class := range admission.Classes {
		o.refused = append(o.refused, metrics.Set{}.Overload(class))
	}
	return o, nil
}

// admit asks the gate, where the request may have to wait a little, and counts a refusal.
func (o *overload) admit(ctx context.Context, c admission.Class) (retryAfter int, ok bool) {
	if o.gate.Admit(c) {
		return 0, true
	}
	return o.wait(ctx, c)
}

func (o *overload) wait(ctx context.Context, c admission.Class) (retryAfter int, ok bool) {
	if retryAfter, ok = o.gate.Wait(ctx, c); ok {
		return 0, true
	}
	o.refused[c].Inc()
	// A line for each would be work of its own.
	if now, last := time.Now().UnixNano(), o.logged.Load(); now-last > int64(overloadLogged) && o.logged.CompareAndSwap(last, now) {
		o.log.Warn("overloaded: requests are refused with 503, see the metric overload_refused_total", "class", admission.Classes[c])
	}
	return retryAfter, false
}

// admitToken is the Admit of guards.
func (o *overload) admitToken(ctx context.Context, raw string, known func(string) bool) (retryAfter int, ok bool) {
	if raw == "" {
		return o.admit(ctx, admission.Anonymous)
	}
	if o.gate.Admit(admission.Client) {
		return 0, true
	}
	if known(raw) { // not asked before, since it takes a digest
		return o.admit(ctx, admission.Known)
	}
	return o.wait(ctx, admission.Client)
}

const (
	// overloadLogged is how often the log says so.
	overloadLogged = 10 * time.Second
	// maxHeld is how many refusals are held back at one time, and maxHold for how long.
	maxHeld = 10_000
	maxHold = 3 * time.Second
)

// answer admits a request of oauth_server, or returns for how many seconds it is refused.
//
// A client that comes again without waiting, over the connection on which it was refused,
// and is refused again hears so only when it should have come: a loop without a pause would
// keep the processors busy with refusals. Connections of trusted proxies are left alone,
// since the next request on them is somebody else's.
func (o *overload) answer(to *authserver.Server, r *http.Request) (retryAfter int, ok bool) {
	if to.AlwaysAdmitted(r) {
		return 0, true
	}
	class := admission.Anonymous
	if to.ShowsCredentials(r) {
		class = admission.Client
	}
	if retryAfter, ok = o.admit(r.Context(), class); ok {
		return 0, true
	}
	if proxy, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); proxy {
		return retryAfter, false
	}
	if left := o.cooldown.Take(r.RemoteAddr); left > 0 {
		o.hold(r, min(left, maxHold))
	} else {
		o.cooldown.Begin(r.RemoteAddr, time.Duration(retryAfter)*time.Second)
	}
	return retryAfter, false
}

// hold waits, unless too many do.
func (o *overload) hold(r *http.Request, wait time.Duration) {
	defer o.held.Add(-1)
	if o.held.Add(1) > maxHeld {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}
