package redis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

func dial(t testing.TB, url string) goredis.UniversalClient {
	t.Helper()
	c, err := settings(t, url, "", 0).Open(redisconn.Tuning{Dial: patient, Timeout: patient})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// peer decides as package ratelimit does, with its State, one request after another. A State
// to which nothing was added is thrown away, as the script does not write it: a clock that
// later steps back is compared with the last admission, not with the last refusal.
type peer map[string]ratelimit.State

func (p peer) decide(k *encodedRequest, now int64) (admitted bool, results []ratelimit.Result) {
	admitted = true
	states := make([]ratelimit.State, len(k.charges))
	for i := range k.charges {
		c, s := &k.charges[i], &states[i]
		*s = p[c.key]
		s.Advance(c.grain(), now)
		admitted = admitted && (c.dry || s.Fits(c.limit, k.cost))
	}
	at := time.UnixMilli(now)
	until := func(ms int64) time.Duration { return time.Duration(max(0, ms-now)) * time.Millisecond }
	for i := range k.charges {
		c, s := &k.charges[i], &states[i]
		g, fit := c.grain(), s.Fits(c.limit, k.cost)
		if admitted && fit {
			s.Admit(k.cost)
			p[c.key] = *s
		}
		r := ratelimit.Result{Limit: c.limit, Remaining: max(0, c.limit-s.Total()), Violated: !fit}
		free := until(s.Frees(g, min(s.Total(), max(1, s.Total()-c.limit+1))))
		switch {
		case fit:
		case k.cost > c.limit:
			r.Retry = ratelimit.Never
		default:
			r.Retry = until(s.Frees(g, s.Total()+k.cost-c.limit))
			free = r.Retry
		}
		r.Reset = at.Add(free)
		results = append(results, r)
	}
	return admitted, results
}

func (c *encodedCharge) grain() ratelimit.Grain {
	p := ratelimit.Policy{Window: time.Duration(c.window) * time.Millisecond}
	return p.Grain()
}

// world draws requests on few keys, so that they meet.
type world struct {
	*rand.Rand
	prefix   string
	policies []ratelimit.Policy
	now      int64
}

// limits are of every width that a counter can have.
var limits = []int64{1, 2, 5, 12, 300, 70_000, 20_000_000, 1<<32 - 1}

func newWorld(seed uint64, prefix string) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 4)), prefix: prefix, now: 1_900_000_000_000}
	for i := range 5 {
		ms := []int64{1000, 1001, 1234, 6000, 59_999, 60_000, 86_400_000}[w.IntN(7)]
		w.policies = append(w.policies, ratelimit.Policy{
			Limiter: "l", Name: fmt.Sprint("p", i), Limit: limits[w.IntN(len(limits))], Window: time.Duration(ms) * time.Millisecond, DryRun: w.IntN(4) == 0,
		})
	}
	return w
}

func (w *world) request() *ratelimit.Request {
	r := &ratelimit.Request{Cost: 1}
	order := w.Perm(len(w.policies))[:1+w.IntN(4)]
	for _, i := range order {
		p := w.policies[i]
		switch w.IntN(10) {
		case 0: // as if another configuration was still in use
			p.Limit = limits[w.IntN(len(limits))]
		case 1:
			p.DryRun = !p.DryRun
		}
		r.Charges = append(r.Charges, ratelimit.Charge{Policy: &p, Subject: strconv.Itoa(w.IntN(2))})
	}
	if w.IntN(2) == 0 {
		l := r.Charges[0].Policy.Limit
		r.Cost = []int64{l, l/2 + 1, l / 7, l + 1, 1 + w.Int64N(3), 1 << 40}[w.IntN(6)]
	}
	return r
}

// pass moves the clock: not, a little, near the edges of slots and windows, far, and back.
func (w *world) pass() {
	window := w.policies[w.IntN(len(w.policies))].Window.Milliseconds()
	slot := (window + 59) / 60
	w.now += []int64{0, 0, w.Int64N(5), slot, window / 3, w.Int64N(window), window - slot, window, window + slot, 2 * window, -w.Int64N(slot + 1), -w.Int64N(window), -2 * window}[w.IntN(13)]
	w.now += w.Int64N(3) - 1
}

// TestScriptMatchesTheMemorySource runs random batches through both, with
// asks that are alike as one group: what each is told must be what it would have been told by itself.
func TestScriptMatchesTheMemorySource(t *testing.T) {
	client := dial(t, redistest.Shared(t).URL())
	ctx := context.Background()
	base := time.Now().UnixNano()
	steps := 0
	for n := range soak(40, 4000) { // 2,800 requests each
		seed := uint64(base) + uint64(n)
		w, p := newWorld(seed, fmt.Sprintf("script-%x:", seed)), peer{}
		for step := range 250 {
			w.pass()
			b := newBatch()
			requests := map[*group][]*ratelimit.Request{}
			for range 1 + w.IntN(4) {
				r := w.request()
				g := &group{encodedRequest: encodeRequest(w.prefix, r, keyBudget{}), n: 1}
				if w.IntN(2) == 0 {
					g.n += w.IntN(15)
				}
				b.addGroup(g)
				requests[g] = append(requests[g], r)
			}
			answers, err := b.execute(ctx, client, strconv.FormatInt(w.now, 10))
			if err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			for i, g := range b.groups {
				for nth := range g.n {
					steps++
					admitted, want := p.decide(g.encodedRequest, w.now)
					got := answers[i].verdict(g.encodedRequest, requests[g][0], nth, 0)
					if got.Admitted != admitted || got.At.UnixMilli() != w.now || len(got.Results) != len(want) {
						t.Fatalf("seed %d, step %d, group %d, %d of %d: %+v, want %v", seed, step, i, nth, g.n, got, admitted)
					}
					for j := range want {
						want[j].Policy = requests[g][0].Charges[j].Policy
						if got.Results[j] != want[j] {
							t.Fatalf("seed %d, step %d, group %d (cost %d), %d of %d, charge %d:\n%+v, want\n%+v", seed, step, i, g.cost, nth, g.n, j, got.Results[j], want[j])
						}
					}
				}
			}
		}
	}
	t.Logf("%d requests", steps)
}

func TestRefusedRequestsChangeNoState(t *testing.T) { // L06
	server := redistest.Shared(t)
	client := dial(t, server.URL())
	now := int64(1_900_000_000_000)
	full := &ratelimit.Policy{Limiter: "l", Name: "full", Limit: 1, Window: time.Hour}
	wide := &ratelimit.Policy{Limiter: "l", Name: "wide", Limit: 10, Window: time.Minute}
	fresh := &ratelimit.Policy{Limiter: "l", Name: "fresh", Limit: 10, Window: time.Minute}
	ask := func(p ...*ratelimit.Policy) *batch {
		r := &ratelimit.Request{}
		for _, p := range p {
			r.Charges = append(r.Charges, ratelimit.Charge{Policy: p, Subject: "s"})
		}
		b := newBatch()
		b.addGroup(&group{encodedRequest: encodeRequest("bytes:", r, keyBudget{}), n: 1})
		return b
	}
	run := func(b *batch) bool {
		a, err := b.execute(context.Background(), client, strconv.FormatInt(now, 10))
		if err != nil {
			t.Fatal(err)
		}
		return a[0].admitted == 1
	}
	if !run(ask(full, wide)) {
		t.Fatal("refused")
	}
	keys := ask(full, wide, fresh).keys
	state := func() (all string) {
		for _, k := range keys {
			all += client.Dump(context.Background(), k).Val() + "|" + client.PExpireTime(context.Background(), k).String() + "\n"
		}
		return all
	}
	before := state()
	for range 50 {
		now += 700
		if run(ask(wide, full, fresh)) {
			t.Fatal("admitted")
		}
	}
	if after := state(); after != before {
		t.Fatalf("%q became %q", before, after)
	}
}

func TestForeignValueCountsAsEmpty(t *testing.T) {
	client := dial(t, redistest.Shared(t).URL())
	p := &ratelimit.Policy{Limiter: "l", Name: "p", Limit: 3, Window: time.Minute}
	ctx := context.Background()
	head := "\x00\x06\xa0\x00\x00"
	for i, value := range []string{"x", "0123456789", strings.Repeat("\x00", 11), strings.Repeat("\xff", 300), head + "\x01\x00\x00\x00\x05" + strings.Repeat("\x01", 62), head + "\x05\x00\x00\x00\x05abcde", head + "\x00\x00\x00\x00\x05a"} {
		r := &ratelimit.Request{Charges: []ratelimit.Charge{{Policy: p, Subject: fmt.Sprint("foreign", i)}}}
		b := newBatch()
		b.addGroup(&group{encodedRequest: encodeRequest("foreign:", r, keyBudget{}), n: 5})
		if err := client.Set(ctx, b.keys[0], value, 0).Err(); err != nil {
			t.Fatal(err)
		}
		a, err := b.execute(ctx, client, serversTime)
		if err != nil || a[0].admitted != 3 {
			t.Fatalf("%q: %+v, %v", value, a, err)
		}
		if ttl := client.PTTL(ctx, b.keys[0]).Val(); ttl <= 0 {
			t.Fatalf("%q: no expiry", value)
		}
	}
}

func TestReplyOfWrongLengthIsAnError(t *testing.T) {
	b := newBatch()
	b.addGroup(&group{encodedRequest: encodeRequest("", &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 9, time.Minute, "s")}}, keyBudget{}), n: 1})
	whole := []int64{1_900_000_000_000, 1, 1, 60_000, 0}
	if answers, err := b.parseReply(whole); err != nil || answers[0].admitted != 1 || answers[0].counts[0].total != 1 {
		t.Fatal(answers, err)
	}
	for n := range whole {
		if _, err := b.parseReply(whole[:n]); !errors.Is(err, errReply) {
			t.Errorf("of %d numbers: %v", n, err)
		}
	}
	if _, err := b.parseReply(append(whole, 0)); !errors.Is(err, errReply) {
		t.Errorf("of one too many: %v", err)
	}
}
