package redis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/module/ratelimit/sourcetest"
)

// byName is a charge under a policy whose subject clients choose.
func byName(limit int64, window time.Duration, subject string) ratelimit.Charge {
	c := one("tenant", limit, window, subject)
	c.Policy.Chosen = true
	return c
}

// allChosen has clients choose the subjects of all policies.
type allChosen struct{ ratelimit.Source }

func (s allChosen) Decide(ctx context.Context, r ratelimit.Request) (ratelimit.Verdict, error) {
	charges := make([]ratelimit.Charge, len(r.Charges))
	for i, c := range r.Charges {
		charges[i] = c
		if c.Policy != nil {
			p := *c.Policy
			p.Chosen = true
			charges[i].Policy = &p
		}
	}
	asked := r
	asked.Charges = charges
	v, err := s.Source.Decide(ctx, asked)
	for i := range v.Results {
		v.Results[i].Policy = r.Charges[i].Policy
	}
	return v, err
}

// N11: below the cap, subjects that clients choose are counted as all others.
func TestChosenSubjectsAreExactBelowTheCap(t *testing.T) {
	url := redistest.Shared(t).URL()
	sourcetest.Run(t, func(t *testing.T, now func() time.Time) ratelimit.Source {
		return allChosen{open(t, config{settings: settings(t, url, "chosen:", patient), nodes: 1, now: now, denials: -1})}
	})
}

// crowd decides as the script is to do, with States as package ratelimit has them, and
// counts the live keys by looking at each of them.
type crowd struct {
	own, buckets map[string]ratelimit.State
	most         int
	room         keyBudget
}

func (c *crowd) decide(grain ratelimit.Grain, limit, cost, now int64, subject string) (admitted, shared bool) {
	bucket := fmt.Sprint(c.room.salt.Bucket(subject))
	own, b := c.own[subject], c.buckets[bucket]
	own.Advance(grain, now)
	b.Advance(grain, now)
	live := 0
	for _, s := range c.own {
		if s.Advance(grain, now); s.Total() > 0 {
			live++
		}
	}
	var s *ratelimit.State
	keep := func() { c.own[subject] = *s }
	switch {
	case own.Total() > 0:
		s = &own
	case live >= c.most:
		s, shared = &b, true
		keep = func() { c.buckets[bucket] = *s }
	default:
		s, shared = &b, b.Total() > 0
	}
	if admitted = s.Fits(limit, cost); admitted {
		s.Admit(cost)
		keep()
	}
	return admitted, shared
}

// N11: random requests of more callers than may have keys of their own are decided as the
// model says, and no caller exceeds its limit.
func TestScriptMatchesTheModelAtTheCap(t *testing.T) {
	client := dial(t, redistest.Shared(t).URL())
	base := uint64(time.Now().UnixNano())
	sharedOnes := 0
	for n := range uint64(soak(20, 1000)) {
		seed := base + n
		w := rand.New(rand.NewPCG(seed, 11))
		limit, most, callers := int64(1+w.IntN(6)), 1+w.IntN(5), 1+w.IntN(20)
		window := []time.Duration{time.Second, 1234 * time.Millisecond, time.Minute}[w.IntN(3)]
		policy := ratelimit.Policy{Limiter: "l", Name: "p", Limit: limit, Window: window, Chosen: true}
		own := keyBudget{callers: uint32(most)}
		model := &crowd{own: map[string]ratelimit.State{}, buckets: map[string]ratelimit.State{}, most: most, room: own}
		type unit struct{ at, cost int64 }
		passed := map[string][]unit{}
		now := int64(1_900_000_000_000)
		for step := range 400 {
			now += []int64{0, 0, w.Int64N(5), window.Milliseconds() / 60, w.Int64N(window.Milliseconds() / 4), w.Int64N(2 * window.Milliseconds())}[min(5, w.IntN(40)/6)]
			b := newBatch()
			var subjects []string
			for range 1 + w.IntN(3) {
				subject := fmt.Sprintf("caller %d", w.IntN(callers))
				r := &ratelimit.Request{Charges: []ratelimit.Charge{{Policy: &policy, Subject: subject}}, Cost: 1 + w.Int64N(2)}
				b.addGroup(&group{encodedRequest: encodeRequest(fmt.Sprintf("crowd-%x:", seed), r, own), n: 1 + w.IntN(3)})
				subjects = append(subjects, subject)
			}
			answers, err := b.execute(context.Background(), client, strconv.FormatInt(now, 10))
			if err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			for i, g := range b.groups {
				for nth := range g.n {
					admitted, shared := model.decide(policy.Grain(), limit, g.cost, now, subjects[i])
					if got := nth < answers[i].admitted; got != admitted {
						t.Fatalf("seed %d, step %d, group %d, %d of %d: admitted %v, the model %v", seed, step, i, nth, g.n, got, admitted)
					}
					if nth == 0 && shared != answers[i].counts[0].shared {
						t.Fatalf("seed %d, step %d, group %d: shared %v, the model %v", seed, step, i, !shared, shared)
					}
					if shared {
						sharedOnes++
					}
					if !admitted {
						continue
					}
					units, sum := append(passed[subjects[i]], unit{now, g.cost}), int64(0)
					passed[subjects[i]] = units
					for _, u := range units {
						if now-u.at <= window.Milliseconds() {
							sum += u.cost
						}
					}
					if sum > limit {
						t.Fatalf("seed %d, step %d: %s has %d in a window, over %d", seed, step, subjects[i], sum, limit)
					}
				}
			}
		}
	}
	if sharedOnes == 0 {
		t.Error("no decision was shared")
	}
}

// callersKeys are the keys of a limiter's policy "tenant" by what they are for.
func callersKeys(t *testing.T, s *Source, prefix string) (own, buckets, population int) {
	t.Helper()
	keys, err := s.conn.client.Keys(context.Background(), prefix+"limit:{l}*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		switch _, number, special := strings.Cut(k, "x60#"); {
		case !special:
			own++
		case number != "":
			buckets++
		default:
			population++
		}
	}
	return own, buckets, population
}

// N11: callers that are made up take no more keys than there may be, in batches of many at
// once on two nodes; who has a key is counted exactly, and others are in each other's way only
// where they share a bucket.
func TestInventedCallersFillRedisOnlyToTheCap(t *testing.T) {
	t.Parallel()
	const most, limit = 500, 5
	const prefix = "capped:"
	server := redistest.Start(t)
	var nodes [2]*Source
	for i := range nodes {
		nodes[i] = open(t, config{settings: settings(t, server.URL(), prefix, patient), denials: maxDenials, callers: most})
	}
	for range 3 {
		decide(t, nodes[0], 1, byName(limit, time.Hour, "early"))
	}
	var refused, shared, at atomic.Int64
	made := int64(soak(30_000, 1_000_000))
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for i := at.Add(1); i <= made; i = at.Add(1) {
				v := decide(t, nodes[i%2], 1, byName(limit, time.Hour, fmt.Sprint("made up ", i)))
				if !v.Admitted {
					refused.Add(1)
				}
				if v.Results[0].Shared {
					shared.Add(1)
				}
			}
		})
	}
	all.Wait()
	own, filled, population := callersKeys(t, nodes[0], prefix)
	t.Logf("%d made up: %d keys, %d buckets; %d shared, %d refused; %s", made, own, filled, shared.Load(), refused.Load(), server.CLI("INFO", "memory")[:60])
	if own != most || filled > ratelimit.SharedBuckets || population != 1 {
		t.Errorf("%d keys of callers, want %d; %d buckets, %d populations", own, most, filled, population)
	}
	if n := shared.Load(); n != made-most+1 {
		t.Errorf("%d decisions were shared, want %d", n, made-most+1)
	}
	if n := refused.Load(); made == 30_000 && n > made/1000 { // 5 to a bucket, where each has 0.5 on the average
		t.Errorf("%d of %d were refused", n, made)
	}
	for _, want := range []bool{true, true, false} {
		if v := decide(t, nodes[1], 1, byName(limit, time.Hour, "early")); v.Admitted != want || v.Results[0].Shared {
			t.Errorf("who has a key is told %+v, want admitted %v", v, want)
		}
	}
	passed := 0
	for i := range 2 * limit {
		if decide(t, nodes[i%2], 1, byName(limit, time.Hour, "greedy")).Admitted {
			passed++
		}
	}
	if passed > limit {
		t.Errorf("a greedy caller without a key had %d at two nodes, over %d", passed, limit)
	}
}

// N11: when keys have expired, a caller that shared a bucket gets a key, which begins with
// what the bucket counts, and frees the bucket in time.
func TestSharedBucketBecomesAKeyAgain(t *testing.T) {
	now := time.UnixMilli(1_900_000_000_000)
	s := open(t, config{settings: settings(t, redistest.Shared(t).URL(), "again:", patient), denials: -1, callers: 1, now: func() time.Time { return now }})
	ask := func(subject string) ratelimit.Result {
		return decide(t, s, 1, byName(5, 10*time.Second, subject)).Results[0]
	}
	if r := ask("first"); r.Shared || r.Remaining != 4 {
		t.Fatalf("first: %+v", r)
	}
	now = now.Add(5 * time.Second)
	if r := ask("second"); !r.Shared || r.Remaining != 4 {
		t.Fatalf("second, in a bucket: %+v", r)
	}
	if r := ask("second"); !r.Shared || r.Remaining != 3 {
		t.Fatalf("second, in a bucket: %+v", r)
	}
	now = now.Add(6 * time.Second) // the first has no key any more
	if r := ask("second"); !r.Shared || r.Remaining != 2 {
		t.Fatalf("second, with a new key beside its bucket: %+v", r)
	}
	if r := ask("second"); r.Shared || r.Remaining != 1 {
		t.Fatalf("second, with a key: %+v", r)
	}
	now = now.Add(6 * time.Second) // the bucket's units have gone
	if r := ask("second"); r.Shared || r.Remaining != 2 {
		t.Fatalf("second, later: %+v", r)
	}
	if r := ask("first"); !r.Shared || r.Remaining != 4 {
		t.Fatalf("first, in a bucket: %+v", r)
	}
}

// N11: a refusal that was remembered holds wherever the caller is counted by then.
func TestCachedDenialEndsWithItsReason(t *testing.T) {
	s := open(t, config{settings: settings(t, redistest.Shared(t).URL(), "moved:", patient), denials: maxDenials, callers: 1})
	decide(t, s, 1, byName(2, time.Second, "first"))
	deadline := time.Now().Add(20 * time.Second)
	for range 5 {
		for admitted := 0; admitted < 2; {
			before := time.Now()
			v := decide(t, s, 1, byName(2, time.Second, "second"))
			if v.Admitted {
				admitted++
				continue
			}
			if r := v.Reported(); !v.At.Add(r.Retry).After(before.Truncate(time.Millisecond)) {
				t.Fatalf("refused at %v until %v", before, v.At.Add(r.Retry))
			}
			if time.Now().After(deadline) {
				t.Fatal("refused for ever")
			}
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		}
	}
}

// Nodes must choose the same buckets, also after Redis has lost what it knew, and outsiders
// must not be able to compute them.
func TestNodesAgreeOnASecretSalt(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	var nodes [3]*Source
	var agreed ratelimit.Salt
	for i := range nodes {
		nodes[i] = open(t, config{settings: settings(t, server.URL(), "salt:", patient)})
		decide(t, nodes[i], 1, byName(5, time.Hour, "s"))
		own, ok := nodes[i].salt.current()
		if !ok || own == (ratelimit.Salt{}) || i > 0 && own != agreed {
			t.Fatalf("node %d: %x, %v, the others have %x", i, own, ok, agreed)
		}
		agreed = own
	}
	server.CLI("FLUSHALL")
	for i := range nodes {
		if err := nodes[i].reportNode(); err != nil {
			t.Fatal(err)
		}
		if own, _ := nodes[i].salt.current(); own != agreed {
			t.Errorf("node %d has another salt after a flush", i)
		}
	}
	if ttl := dial(t, server.URL()).TTL(context.Background(), "salt:limit:salt{salt:limit:nodes}").Val(); ttl < time.Hour+time.Minute || ttl > 2*time.Hour {
		t.Errorf("the salt is remembered for %v, buckets of an hour for a minute more than that", ttl)
	}
	var without ratelimit.Salt
	differ := 0
	for i := range 100 {
		if agreed.Bucket(fmt.Sprint(i)) != without.Bucket(fmt.Sprint(i)) {
			differ++
		}
	}
	if differ < 90 {
		t.Errorf("the salt makes a difference to %d subjects of 100", differ)
	}
}

// While the salt is unknown a node could count a caller in a bucket that other nodes do not look at.
func TestUnknownSaltCountsAsAnOutage(t *testing.T) {
	p := redistest.NewProxy(t, redistest.Shared(t).Addr)
	p.Blackhole()
	s := open(t, config{settings: settings(t, p.URL(), "unsalted:", 20*time.Millisecond)})
	v, err := s.Decide(context.Background(), ratelimit.Request{Charges: []ratelimit.Charge{byName(5, time.Hour, "s")}, OnOutage: ratelimit.OutageOpen})
	if err != nil || !v.Outage {
		t.Fatalf("%+v, %v", v, err)
	}
	eventually(t, "Redis was asked in vain", func() bool {
		select {
		case <-s.salt.asked:
			return true
		default:
			return false
		}
	})
	begin := time.Now()
	for range 1000 {
		if v, err := s.Decide(context.Background(), ratelimit.Request{Charges: []ratelimit.Charge{byName(5, time.Hour, "s")}, OnOutage: ratelimit.OutageOpen}); err != nil || !v.Outage {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	if waited := time.Since(begin); waited > 10*time.Second {
		t.Errorf("1000 requests waited %v for what is not there", waited)
	}
	p.Heal()
	p.Cut()
	for deadline := time.Now().Add(20 * time.Second); v.Outage; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the outage does not end")
		}
		if v, err = s.Decide(context.Background(), ratelimit.Request{Charges: []ratelimit.Charge{byName(5, time.Hour, "s")}, OnOutage: ratelimit.OutageOpen}); err != nil {
			t.Fatal(err)
		}
	}
}

// What one caller takes of Redis, with all that Redis keeps beside it.
func TestSizeAllowsEnoughMemoryPerKey(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, config{settings: settings(t, server.URL(), "gatehouse:", patient), denials: -1})
	used := func() int64 {
		for line := range strings.Lines(server.CLI("INFO", "memory")) {
			if text, ok := strings.CutPrefix(strings.TrimSpace(line), "used_memory_dataset:"); ok {
				n, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
		}
		t.Fatal("no used_memory_dataset")
		return 0
	}
	before := used()
	const callers = 20_000
	var at atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for i := at.Add(1); i <= callers; i = at.Add(1) {
				decide(t, s, 1, byName(5, time.Hour, fmt.Sprintf("%064d", i)))
			}
		})
	}
	all.Wait()
	each := (used() - before) / callers
	t.Logf("%d bytes for each of %d callers with one request", each, callers)
	if each > keyBytes {
		t.Errorf("%d bytes for each caller, reckoned are %d", each, keyBytes)
	}
	if n := callersIn(defaultSize); n != 605_552 {
		t.Errorf("the default is for %d callers, the documentation says 605,552", n)
	}
	if n := callersIn(minSize); n < 10_000 {
		t.Errorf("the least size is for %d callers", n)
	}
	if n := callersIn(maxSize); n > 1<<31 {
		t.Errorf("the largest size is for %d callers, which the script cannot be told", n)
	}
}
