package redis

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/store"
)

const ms = time.Millisecond

func TestEarlierWaitsShortenTheNextTimeout(t *testing.T) {
	for _, c := range []struct {
		name                              string
		timeout, ordinary, waited, expect time.Duration
		away                              bool
	}{
		{"at first", 200 * ms, 5 * ms, 0, 200 * ms, false},
		{"a little", 200 * ms, 5 * ms, 40 * ms, 200 * ms, false},
		{"a late answer", 200 * ms, 5 * ms, 195 * ms, 45 * ms, false},
		{"all it may", 200 * ms, 5 * ms, 240 * ms, 25 * ms, false},
		{"more than it may", 200 * ms, 5 * ms, time.Minute, 25 * ms, false},
		{"all it may, and Redis is far", 200 * ms, 90 * ms, 240 * ms, 90 * ms, false},
		{"Redis was away", 200 * ms, 5 * ms, 0, 50 * ms, true},
		{"Redis was away, and all it may", 200 * ms, 5 * ms, 240 * ms, 25 * ms, true},
		{"Redis was away and is far", 200 * ms, 100 * ms, 240 * ms, 50 * ms, true},
		{"ten times the timeout", 2 * time.Second, 50 * ms, 1950 * ms, 450 * ms, false},
		{"ten times the timeout and all it may", 2 * time.Second, 50 * ms, 2400 * ms, 250 * ms, false},
	} {
		if got := allowedTime(c.timeout, c.ordinary, c.waited, c.away); got != c.expect {
			t.Errorf("%s: %v, want %v", c.name, got, c.expect)
		}
	}
}

// However a request's time divides, three calls fit into what it is told within: one that
// was answered late, one that was not, and one that asks what became of that.
func TestThreeCallsFitIntoTheRequestDeadline(t *testing.T) {
	const ordinary = usualTimeout / unnoticed
	longest := time.Duration(0)
	for first := time.Duration(0); first < usualTimeout; first += ms {
		total, waited := first, max(0, first-ordinary)
		for _, away := range []bool{false, true} {
			took := allowedTime(usualTimeout, ordinary, waited, away)
			total, waited = total+took, waited+took-ordinary
		}
		longest = max(longest, total)
	}
	if longest > within-20*ms { // the request has other work too
		t.Errorf("%v", longest)
	}
}

func TestBaselineLatencyIsTheRecentMinimum(t *testing.T) {
	p, at := pace{}, time.Now()
	is := func(want time.Duration) {
		t.Helper()
		if got := p.ordinaryTime(usualTimeout, 1); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
	is(usualTimeout / unnoticed)
	p.recordTime(ms, at)
	is(usualTimeout / unnoticed)
	p.recordTime(30*ms, at.Add(paceLasts-1))
	is(usualTimeout / unnoticed)
	p.recordTime(40*ms, at.Add(paceLasts))
	p.recordTime(30*ms, at.Add(2*paceLasts-1))
	is(usualTimeout / unnoticed) // a while of nothing but slow answers may be an outage
	p.recordTime(50*ms, at.Add(2*paceLasts))
	is(60 * ms)
	if got := p.ordinaryTime(usualTimeout, 2); got != usualTimeout/2 {
		t.Errorf("two trips: %v", got)
	}
	p.recordTime(199*ms, at.Add(3*paceLasts))
	p.recordTime(199*ms, at.Add(4*paceLasts))
	is(usualTimeout / 2)
	p.recordTime(ms, at.Add(4*paceLasts))
	is(usualTimeout / unnoticed)
}

// slowly is a store behind a proxy, which has been quick, and a request.
func slowly(t *testing.T) (*Backend, *redistest.Proxy, context.Context) {
	t.Helper()
	proxy := redistest.NewProxy(t, redistest.Shared(t).Addr)
	b := open(t, options(t, proxy.URL()))
	must2(b.Create(t.Context(), record("a")))(t)
	must2(b.Get(t.Context(), record("a").Key))(t)
	return b, proxy, store.OneRequest(t.Context())
}

// E05: each call alone is in time, and together they are not.
func TestSlowCallsOfOneRequestTimeOutTogether(t *testing.T) {
	key := record("a").Key
	t.Run("all answers are late", func(t *testing.T) {
		b, proxy, ctx := slowly(t)
		proxy.Latency(140 * ms)
		begin, answered := time.Now(), 0
		var err error
		for err == nil && answered < 4 {
			if _, err = b.Get(ctx, key); err == nil {
				answered++
			}
		}
		technical(t, "Get", err)
		_, err = b.Get(ctx, key)
		technical(t, "Get again", err)
		if took := time.Since(begin); answered != 1 || took > within {
			t.Errorf("%d answers and %v", answered, took)
		}
	})
	t.Run("late answers, then none", func(t *testing.T) {
		b, proxy, ctx := slowly(t)
		made := must2(b.Get(ctx, key))(t)
		proxy.Latency(60 * ms)
		begin := time.Now()
		for range 2 {
			must2(b.Get(ctx, key))(t)
		}
		proxy.Blackhole()
		_, err := b.Swap(ctx, made)
		technical(t, "Swap", err)
		_, err = b.Get(ctx, key)
		technical(t, "Get", err)
		if took := time.Since(begin); took > within {
			t.Errorf("%v", took)
		}
	})
	t.Run("a request of its own", func(t *testing.T) {
		b, proxy, ctx := slowly(t)
		proxy.Latency(140 * ms)
		must2(b.Get(ctx, key))(t)
		must2(b.Get(store.OneRequest(t.Context()), key))(t)
	})
	t.Run("work that is no request", func(t *testing.T) {
		b, proxy, _ := slowly(t)
		proxy.Latency(140 * ms)
		for range 4 {
			must2(b.Get(t.Context(), key))(t)
		}
	})
}

// A request that has waited for all it may still learns what became of a write, and
// nothing else than what is so.
func TestExhaustedRequestStillLearnsAWritesOutcome(t *testing.T) {
	b, proxy, ctx := slowly(t)
	made := must2(b.Get(ctx, record("a").Key))(t)
	must2(b.Swap(ctx, made))(t) // the server knows the script
	made = must2(b.Get(ctx, made.Key))(t)
	store.WaitedIn(ctx).Add(time.Hour)
	made.Value = []byte("used")
	proxy.DropReplies(1, "EVALSHA")
	_, err := b.Swap(ctx, made)
	technical(t, "Swap", err)
	if got := must2(b.Get(ctx, made.Key))(t); string(got.Value) != "used" {
		t.Errorf("%q", got.Value)
	}
	proxy.Blackhole()
	_, err = b.Get(ctx, made.Key)
	technical(t, "Get", err)
	_, err = b.Get(ctx, record("none").Key)
	technical(t, "Get of what is not there", err)
}

func TestSlowRedisLinkServesRequestsWithManyCalls(t *testing.T) {
	for _, c := range []struct {
		timeout, away time.Duration
	}{{0, 50 * ms}, {400 * ms, 90 * ms}} {
		t.Run(fmt.Sprint(c.away), func(t *testing.T) {
			t.Parallel()
			proxy := redistest.NewProxy(t, redistest.Shared(t).Addr)
			o := options(t, proxy.URL())
			o.Settings.Timeout = c.timeout
			b, ctx := open(t, o), store.OneRequest(t.Context())
			made := must2(b.Create(t.Context(), record("a")))(t)
			made = must2(b.Swap(t.Context(), made))(t) // the server knows the scripts
			proxy.Latency(c.away)
			b.condition.pace = pace{} // it has been as far for a while
			must2(b.Get(t.Context(), made.Key))(t)
			for range 5 {
				made = must2(b.Swap(ctx, made))(t)
				made = must2(b.Get(ctx, made.Key))(t)
			}
		})
	}
}
