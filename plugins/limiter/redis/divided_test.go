package redis

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// besideAll are the charges of a user who is counted for itself and under "all".
func besideAll(user string, limit, limitOfAll int64) []ratelimit.Charge {
	own, all := bySubject("user", limit, user), one("all", limitOfAll, time.Minute, "all")
	all.Policy.Place = "all:60000"
	return []ratelimit.Charge{own, all}
}

func TestDividedRequests(t *testing.T) {
	t.Parallel()
	c := redistest.StartPrimaries(t)
	c.FailOverAfter(time.Minute) // a busy machine may keep a server waiting
	testWorkIsDivided(t, c)
	testRefusalsOfEitherPart(t, c)
	testLeasesOfBothParts(t, c)
	testRefusedCallersAreForgotten(t, c)
	testLeasesAreExact(t, c.URL(), soak(4, 400), true)
	testLostServers(t, c)
	testMovedSlots(t, c)
}

// scriptsOf is how often each of the servers ran one.
func scriptsOf(t *testing.T, c *redistest.Cluster) (n []int) {
	t.Helper()
	for _, s := range c.Nodes {
		n = append(n, scripts(t, s))
	}
	return n
}

// Three nodes serve users whose requests all count under "all": no server has more than half of the work.
func testWorkIsDivided(t *testing.T, c *redistest.Cluster) {
	const users, perUser = 300, 20
	var nodes [3]*Source
	for i := range nodes {
		nodes[i] = open(t, config{settings: settings(t, c.URL(), "work:", patient), nodes: 3, denials: maxDenials, leases: maxLeases})
	}
	ask := func(n int) {
		if !decide(t, nodes[n/users%3], 1, besideAll(fmt.Sprint(n%users), 600, 1<<30)...).Admitted {
			t.Error("refused")
		}
	}
	each(users, ask)
	before, sum, most := scriptsOf(t, c), 0, 0
	for n := range users * perUser {
		ask(n)
	}
	after := scriptsOf(t, c)
	for i := range after {
		after[i] -= before[i]
		sum, most = sum+after[i], max(most, after[i])
	}
	if t.Logf("%v scripts for %d requests", after, users*perUser); most > sum/2 || sum < users*perUser {
		t.Errorf("the servers ran %v scripts for %d requests", after, users*perUser)
	}
	held := 0
	for i, keys := range keysOf(c, "work:limit:{l*") {
		if strings.Contains(fmt.Sprint(keys), "}all:") {
			held++
		}
		if len(keys) < users/4 || len(keys) > users/2 {
			t.Errorf("server %d of three has %d keys of %d users", i, len(keys), users)
		}
	}
	if held != 1 {
		t.Errorf("%d servers count for all", held)
	}
	for _, s := range nodes {
		s.giveBackUnused(true)
	}
	if left := decide(t, nodes[0], 1<<31, besideAll("0", 600, 1<<30)...).Results; left[0].Remaining != 600-perUser-1 || left[1].Remaining != 1<<30-users*(perUser+1) {
		t.Errorf("left are %+v", left)
	}
}

// A refusal says what each policy counts, takes nothing, and is repeated without a trip.
func testRefusalsOfEitherPart(t *testing.T, c *redistest.Cluster) {
	s := open(t, config{settings: settings(t, c.URL(), "refusals:", patient), nodes: 1, denials: maxDenials, leases: maxLeases})
	want := func(user string, admitted bool, own, all int64) {
		t.Helper()
		v := decide(t, s, 1, besideAll(user, 2, 5)...)
		if v.Admitted != admitted || v.Results[0].Remaining != own || v.Results[1].Remaining != all {
			t.Fatalf("%s: %+v", user, v)
		}
		for i, r := range v.Results {
			if violated := !admitted && []int64{own, all}[i] == 0; r.Violated != violated || violated && (r.Retry < 50*time.Second || !v.At.Add(r.Retry).Equal(r.Reset)) {
				t.Fatalf("%s: %+v", user, v)
			}
		}
	}
	repeated := func(user string, own, all int64) {
		t.Helper()
		before, begin := scriptsOf(t, c), time.Now()
		for range 300 {
			want(user, false, own, all)
		}
		after, most := scriptsOf(t, c), 4*(1+int(time.Since(begin)/maxDenial))
		for i := range after {
			if after[i]-before[i] > most {
				t.Errorf("%s: %v scripts, then %v", user, before, after)
			}
		}
	}
	want("a", true, 1, 4)
	want("a", true, 0, 3)
	repeated("a", 0, 3)
	want("b", true, 1, 2)
	want("b", true, 0, 1)
	want("c", true, 1, 0)
	want("c", false, 1, 0)
	want("d", false, 2, 0)
	repeated("d", 2, 0)
	for user, left := range map[string]int64{"c": 1, "d": 2} {
		if r := decide(t, s, 3, bySubject("user", 2, user)).Results[0]; r.Remaining != left {
			t.Errorf("%s: %d are left, want %d", user, r.Remaining, left)
		}
	}
	time.Sleep(maxDenial)
	want("a", false, 0, 0)
	s.denials = nil
	want("d", false, 2, 0)
	if r := decide(t, s, 3, bySubject("user", 2, "d")).Results[0]; r.Remaining != 2 {
		t.Errorf("%d are left after a refusal by Redis, want 2", r.Remaining)
	}
}

// Where both limits are far, a request needs no trip, and what a refusal of one takes back of a lease of the other is right.
func testLeasesOfBothParts(t *testing.T, c *redistest.Cluster) {
	now := time.UnixMilli(1_900_000_000_000) // the clock stands still: a lease that ends with its slot counts until it is given back
	clock := func() time.Time { return now }
	s := open(t, config{settings: settings(t, c.URL(), "both:", patient), nodes: 1, now: clock, clock: clock, denials: maxDenials, leases: maxLeases})
	const requests, limit, limitOfAll = 3000, 64_000, 128_000
	ask := func(cost int64, ownLimit, allLimit int64) ratelimit.Verdict {
		t.Helper()
		return decide(t, s, cost, besideAll("u", ownLimit, allLimit)...)
	}
	ask(1, limit, limitOfAll)
	for _, n := range c.Nodes { // one may never have run a script
		n.CLI("EVAL", "return 1", "0")
		n.CLI("EVALSHA", strings.Trim(n.CLI("SCRIPT", "LOAD", "return 1"), `"`), "0")
	}
	before, ran := scriptsOf(t, c), 0
	for n := range int64(requests) {
		if v := ask(1, limit, limitOfAll); !v.Admitted || v.Results[0].Remaining != limit-2-n || v.Results[1].Remaining != limitOfAll-2-n {
			t.Fatalf("request %d: %+v", n, v)
		}
	}
	for i, n := range scriptsOf(t, c) {
		ran += n - before[i]
	}
	if t.Logf("%d scripts for %d requests", ran, requests); ran > requests/4 {
		t.Errorf("%d scripts for %d requests", ran, requests)
	}
	asked := int64(1 + requests)
	r := &ratelimit.Request{Charges: besideAll("u", limit, limitOfAll)[1:]}
	k := encodeRequest(s.pipelineOf(r, new(keyBudget)).head, r, keyBudget{})
	for ; !s.leases.holds(k, s.conn.clock()); asked++ {
		ask(1, limit, limitOfAll)
	}
	// Nobody is refused for what this node holds.
	s.denials.remember(k, &answer{at: now.UnixMilli(), asked: 1, counts: []chargeCount{{total: limitOfAll, retry: 1000}}}, now, now)
	if asked++; !ask(1, limit, limitOfAll).Admitted {
		t.Error("refused though the node holds a lease")
	}
	refused := 0
	for range 100 { // by a limit for all that a reload has lowered
		if !ask(1, limit, 700).Admitted {
			refused++
		}
	}
	s.giveBackUnused(true)
	s.denials = nil
	left := ask(1<<20, limit, limitOfAll).Results
	if refused != 100 || left[0].Remaining != limit-asked || left[1].Remaining != limitOfAll-asked {
		t.Errorf("%d were refused; left are %+v", refused, left)
	}
}

// Callers that choose their names and are refused by the limit for all leave neither a key nor a count in a bucket.
func testRefusedCallersAreForgotten(t *testing.T, c *redistest.Cluster) {
	const perShard, made, limit = 20, 1000, 5
	s := open(t, config{settings: settings(t, c.URL(), "forgotten:", patient), nodes: 1, denials: -1, callers: perShard * shards})
	caller := func(name string, n int, limitOfAll int64) []ratelimit.Charge {
		charges := besideAll(fmt.Sprint(name, n), limit, limitOfAll)
		charges[0].Policy.Chosen = true
		return charges
	}
	refuseAll := func(name string) {
		each(made, func(n int) {
			if decide(t, s, 1, caller(name, n, 1)...).Admitted {
				t.Error("admitted above the limit for all")
			}
		})
	}
	decide(t, s, 1, caller("first", 0, 1)...)
	refuseAll("before")
	for i, keys := range keysOf(c, "forgotten:limit:{l[*]*before*") {
		if len(keys) > 0 {
			t.Errorf("server %d has %d keys of callers that were refused", i, len(keys))
		}
	}
	var shared atomic.Int64
	each(5*shards, func(n int) {
		if decide(t, s, 1, caller("own", n, 1<<30)...).Results[0].Shared {
			shared.Add(1)
		}
	})
	if n := shared.Load(); n > 0 {
		t.Errorf("%d of %d callers found no room for a key beside %d that were refused", n, 5*shards, made)
	}
	each(40*shards, func(n int) { decide(t, s, 1, caller("more", n, 1<<30)...) })
	refuseAll("after")
	counted := 0
	for n := range made {
		r := decide(t, s, limit+1, caller("after", n, 1<<30)[0]).Results[0]
		if !r.Shared {
			t.Fatal("there is room for more keys")
		}
		if r.Remaining != limit {
			counted++
		}
	}
	if counted > made/20 { // a bucket has other callers, too
		t.Errorf("the buckets of %d in %d callers count something", counted, made)
	}
}

// A part may move to another server at any time.
func testMovedSlots(t *testing.T, c *redistest.Cluster) {
	s := open(t, config{settings: settings(t, c.URL(), "moved:", time.Second), nodes: 1, denials: -1})
	charges := besideAll("u", 100, 100)
	for n := range int64(50) {
		if n%20 == 10 {
			part := charges[n/20%2]
			tag := placed(t, s, part).tag()
			from := c.Holder(tag)
			to := c.Nodes[0]
			if from == to {
				to = c.Nodes[1]
			}
			moveSlot(t, c, tag, from, to)
		}
		v, err := s.Decide(context.Background(), ratelimit.Request{Charges: charges, OnOutage: ratelimit.OutageOpen})
		if err != nil || v.Outage || v.Results[0].Remaining != 99-n || v.Results[1].Remaining != 99-n {
			t.Fatalf("request %d: %+v, %v", n, v, err)
		}
	}
}

// moveSlot moves the slot of a tag with its keys.
func moveSlot(t *testing.T, c *redistest.Cluster, tag string, from, to *redistest.Server) {
	t.Helper()
	slot, host := c.Nodes[0].CLI("cluster", "keyslot", tag), strings.Split(to.Addr, ":")
	source, target := from.CLI("cluster", "myid"), to.CLI("cluster", "myid")
	to.CLI("cluster", "setslot", slot, "importing", source)
	from.CLI("cluster", "setslot", slot, "migrating", target)
	for _, key := range strings.Fields(from.CLI("cluster", "getkeysinslot", slot, "1000")) {
		from.CLI("migrate", host[0], host[1], key, "0", "5000")
	}
	for _, n := range []*redistest.Server{to, from, c.Nodes[0], c.Nodes[1], c.Nodes[2]} {
		n.CLI("cluster", "setslot", slot, "node", target)
	}
}

// A request is decided as in an outage while one of its servers does not answer, and others as always.
func testLostServers(t *testing.T, c *redistest.Cluster) {
	s := open(t, config{settings: settings(t, c.URL(), "lost:", 300*time.Millisecond), nodes: 1, denials: maxDenials, leases: maxLeases})
	holder := func(charge ratelimit.Charge) *redistest.Server { return c.Holder(placed(t, s, charge).tag()) }
	common := holder(besideAll("", 1, 1)[1])
	users := make(map[*redistest.Server]string)
	for n := 0; len(users) < len(c.Nodes); n++ {
		user := fmt.Sprint("user", n)
		users[holder(bySubject("user", 1, user))] = user
	}
	ask := func(user string) ratelimit.Verdict {
		v, err := s.Decide(context.Background(), ratelimit.Request{Charges: besideAll(user, 1<<30, 1<<30), OnOutage: ratelimit.OutageOpen})
		if err != nil || !v.Admitted {
			t.Fatal(v, err)
		}
		return v
	}
	for _, lost := range c.Nodes {
		for _, user := range users {
			eventually(t, "all are served", func() bool { return !ask(user).Outage })
		}
		lost.Freeze()
		eventually(t, "who needs the lost server meets an outage at once", func() bool {
			return ask(users[lost]).Outage && s.Health() != nil
		})
		for server, user := range users {
			out := 0
			for range 50 {
				if ask(user).Outage {
					out++
				}
			}
			if gone := server == lost || common == lost; gone != (out > 0) && (gone || out > 2) {
				t.Errorf("%d of 50 requests met an outage; the server of the user is lost: %v, that of all: %v", out, server == lost, common == lost)
			}
		}
		lost.Thaw()
	}
	for _, user := range users {
		eventually(t, "all are served again", func() bool { return !ask(user).Outage })
	}
}
