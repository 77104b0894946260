package redis

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func decide(t testing.TB, s *Source, cost int64, charges ...ratelimit.Charge) ratelimit.Verdict {
	t.Helper()
	v, err := s.Decide(context.Background(), ratelimit.Request{Charges: charges, Cost: cost})
	if err != nil || v.Outage {
		t.Fatalf("%+v, %v, %v", v, err, s.Health())
	}
	return v
}

func one(name string, limit int64, window time.Duration, subject string) ratelimit.Charge {
	return ratelimit.Charge{Policy: &ratelimit.Policy{Limiter: "l", Name: name, Limit: limit, Window: window}, Subject: subject}
}

func TestThreeNodesAdmitExactlyTheLimit(t *testing.T) { // L02, L11
	threeNodes(t, redistest.Shared(t).URL())
}

// threeNodes are such whose clocks are 5 s apart: what counts is the server's.
func threeNodes(t *testing.T, url string) {
	var nodes [3]*Source
	for i := range nodes {
		clock := func() time.Time { return time.Now().Add(time.Duration(5*i-5) * time.Second) }
		nodes[i] = open(t, config{settings: settings(t, url, "three:", patient), clock: clock, denials: maxDenials})
	}
	var passed atomic.Int64
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range 3000 {
		all.Go(func() {
			<-start
			v, err := nodes[i%3].Decide(context.Background(), ratelimit.Request{Charges: []ratelimit.Charge{one("p", 100, 10*time.Second, "s")}})
			if err != nil || v.Outage {
				t.Error(v, err)
			}
			if v.Admitted {
				passed.Add(1)
			}
		})
	}
	close(start)
	all.Wait()
	if passed.Load() != 100 {
		t.Fatalf("%d passed, want 100", passed.Load())
	}
}

// At five times the limit no stretch of a window's length has more than the limit. Every
// admission is taken for as early, then for as late as it can have been.
func TestOverloadedWindowStaysWithinTheLimit(t *testing.T) { // L03, E20
	t.Parallel()
	const limit, window = 50, time.Second
	url := redistest.Shared(t).URL()
	var mu sync.Mutex
	var at []int64
	var all sync.WaitGroup
	stop := time.Now().Add(soak(2500*time.Millisecond, 10*time.Minute))
	for range 3 {
		s := open(t, config{settings: settings(t, url, "overload:", patient), denials: maxDenials})
		for w := range 4 {
			all.Go(func() {
				for n := 0; time.Now().Before(stop); n++ {
					v := decide(t, s, 1, one("p", limit, window, "s"))
					if v.Admitted {
						mu.Lock()
						at = append(at, v.At.UnixMilli())
						mu.Unlock()
					}
					time.Sleep(time.Duration((n*7919+w*104729)%97) * time.Millisecond)
				}
			})
		}
	}
	all.Wait()
	for i := range at {
		n := 0
		for j := range at {
			if at[j] >= at[i] && at[j] <= at[i]+window.Milliseconds() {
				n++
			}
		}
		if n > limit {
			t.Fatalf("%d in a window, over %d", n, limit)
		}
	}
	if len(at) < limit {
		t.Fatalf("%d passed", len(at))
	}
}

func TestRedisKeyIsSmallAndExpires(t *testing.T) { // L10
	server := redistest.Shared(t)
	client := dial(t, server.URL())
	ctx := context.Background()
	now := int64(1_900_000_000_000)
	for name, c := range map[string]struct {
		cost, limit int64
		subject     string
	}{
		"one request":                  {0, 1000, "alice"},
		"a thousand a minute":          {16, 1000, "9e107d9d-372b-4d3f-8f3b-2c9a6f0c1d55"},
		"a million a minute":           {16_000, 1_000_000, "9e107d9d-372b-4d3f-8f3b-2c9a6f0c1d55"},
		"a billion a minute":           {16_000_000, 1_000_000_000, strings.Repeat("s", 64)},
		"a long subject":               {16, 1000, strings.Repeat("s", 500)},
		"more than 2^24 within a slot": {70_000_000, 1<<32 - 1, strings.Repeat("s", 64)},
		"the same of a long subject":   {70_000_000, 1<<32 - 1, strings.Repeat("s", 500)},
	} {
		prefix := fmt.Sprintf("gatehouse:%d:", now%1000)
		r := &ratelimit.Request{Cost: c.cost, Charges: []ratelimit.Charge{{Policy: &ratelimit.Policy{Limiter: "api", Name: "client", Limit: c.limit, Window: time.Minute}, Subject: c.subject}}}
		var key string
		for step := range int64(61) {
			if c.cost == 0 && step > 0 {
				break
			}
			b := newBatch()
			b.addGroup(&group{encodedRequest: encodeRequest(prefix, r, keyBudget{}), n: 1})
			key = b.keys[0]
			if _, err := b.execute(ctx, client, fmt.Sprint(now+1000*step)); err != nil {
				t.Fatal(err)
			}
		}
		used := client.MemoryUsage(ctx, key).Val()
		t.Logf("%s: %d bytes, of them %d of the key and %d of the value", name, used, len(key), client.StrLen(ctx, key).Val())
		if used > 400 || used == 0 {
			t.Errorf("%s: %d bytes", name, used)
		}
		if ttl := client.PTTL(ctx, key).Val(); ttl < time.Minute || ttl > 62*time.Second {
			t.Errorf("%s: expires in %v", name, ttl)
		}
		now++
	}
}

func TestKeysExpireWithinTwoWindows(t *testing.T) { // L10
	t.Parallel()
	server := redistest.Shared(t)
	s := open(t, config{settings: settings(t, server.URL(), "expires:", patient), nodes: 1})
	for i := range 100 {
		decide(t, s, 1, one("p", 1, 1100*time.Millisecond, fmt.Sprint(i)))
	}
	for deadline := time.Now().Add(2200 * time.Millisecond); ; time.Sleep(20 * time.Millisecond) {
		late := time.Now().After(deadline)
		left := server.CLI("EVAL", "local n = 0 for _, k in ipairs(redis.call('KEYS', 'expires:limit:{*')) do if redis.call('EXISTS', k) == 1 then n = n + 1 end end return n", "0")
		if left == "0" {
			break
		}
		if late {
			t.Fatalf("%s keys are left", left)
		}
	}
}

func TestLostReplyIsNotRetried(t *testing.T) {
	p := redistest.NewProxy(t, redistest.Shared(t).Addr)
	s := open(t, config{settings: settings(t, p.URL(), "lost:", patient), nodes: 1})
	c := one("p", 1000, time.Hour, "s")
	decide(t, s, 1, c)
	for s.nodes.heardOf() == 0 { // it is a script as well
		time.Sleep(time.Millisecond)
	}
	p.DropReplies(1, "EVALSHA")
	if v, err := s.Decide(context.Background(), ratelimit.Request{Charges: []ratelimit.Charge{c}, OnOutage: ratelimit.OutageOpen}); err != nil || !v.Outage {
		t.Fatalf("%+v, %v", v, err)
	}
	if v := decide(t, s, 1, c); v.Results[0].Remaining != 997 {
		t.Fatalf("%d remain, want 997", v.Results[0].Remaining)
	}
}

func TestCancelledCallerReturnsPromptly(t *testing.T) {
	p := redistest.NewProxy(t, redistest.Shared(t).Addr)
	p.Blackhole()
	s := open(t, config{settings: settings(t, p.URL(), "away:", patient)})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := s.Decide(ctx, ratelimit.Request{Charges: []ratelimit.Charge{one("p", 1, time.Hour, "s")}}); err == nil || time.Since(begin) > time.Second {
		t.Fatalf("%v after %v", err, time.Since(begin))
	}
}

func TestNodesLearnTheirNumberAndRememberIt(t *testing.T) {
	p := redistest.NewProxy(t, redistest.Shared(t).Addr)
	var last *Source
	for i := range 3 {
		last = open(t, config{settings: settings(t, p.URL(), "nodes:", patient)})
		if n := last.nodes.count(); n != assumedNodes {
			t.Fatalf("%d nodes before it was heard of any", n)
		}
		if err := last.Health(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(5 * time.Second); last.nodes.count() != i+1; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d nodes are heard of, want %d", last.nodes.count(), i+1)
			}
		}
	}
	p.Reset()
	if err := last.reportNode(); err == nil || last.nodes.count() != 3 || last.Health() == nil {
		t.Fatalf("%v, %d nodes, %v", err, last.nodes.count(), last.Health())
	}
	if fixed := newNodes(7); fixed.count() != 7 {
		t.Fatal("the number that is configured is not used")
	}
}

func (n *nodes) heardOf() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lastCount
}

func TestClosedSourceDecidesAsInAnOutage(t *testing.T) {
	s := open(t, config{settings: settings(t, redistest.Shared(t).URL(), "closed:", patient)})
	decide(t, s, 1, one("p", 5, time.Hour, "s"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	v, err := s.Decide(context.Background(), ratelimit.Request{Charges: []ratelimit.Charge{one("p", 5, time.Hour, "s")}, OnOutage: ratelimit.OutageOpen})
	if err != nil || !v.Outage || !v.Admitted || s.Health() == nil {
		t.Fatalf("%+v, %v, %v", v, err, s.Health())
	}
}

// Each of those that are decided on together is told what is left after itself.
func TestEqualConcurrentRequestsEachSeeTheirRemainder(t *testing.T) {
	s := open(t, config{settings: settings(t, redistest.Shared(t).URL(), "alike:", patient), nodes: 1})
	dry := one("dry", 40, time.Minute, "s")
	dry.Policy.DryRun = true
	var mu sync.Mutex
	left, dryLeft, refused, violated := map[int64]int{}, map[int64]int{}, 0, 0
	var all sync.WaitGroup
	for range 150 {
		all.Go(func() {
			v := decide(t, s, 2, one("p", 200, time.Minute, "s"), dry)
			mu.Lock()
			defer mu.Unlock()
			if v.Admitted {
				left[v.Results[0].Remaining]++
			} else {
				refused++
			}
			if v.Results[1].Violated {
				violated++
			} else {
				dryLeft[v.Results[1].Remaining]++
			}
		})
	}
	all.Wait()
	if refused != 50 || violated != 130 || len(left) != 100 || len(dryLeft) != 20 {
		t.Fatalf("%d refused, %d violate the dry run; told %v and %v", refused, violated, left, dryLeft)
	}
}
