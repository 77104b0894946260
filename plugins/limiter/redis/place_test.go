package redis

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/plugins/internal/hashslot"
)

func bySubject(name string, limit int64, subject string) ratelimit.Charge {
	c := one(name, limit, time.Minute, subject)
	c.Policy.Place = ratelimit.BySubject
	return c
}

func placed(t *testing.T, s *Source, charges ...ratelimit.Charge) place {
	t.Helper()
	r := ratelimit.Request{Charges: charges}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	return s.placeOf(&r, keyBudget{})
}

func TestClusterHashTags(t *testing.T) {
	s := open(t, config{settings: settings(t, "redis+cluster://127.0.0.1:1", "", patient), nodes: 1})
	user := placed(t, s, bySubject("a", 1, "user"), bySubject("b", 1, "user"))
	if user.name != ratelimit.BySubject || user != placed(t, s, bySubject("b", 9, "user")) {
		t.Errorf("policies of one subject are apart: %+v", user)
	}
	mixed := one("a", 1, time.Minute, "user")
	mixed.Policy.Place = "a:60000"
	if at := placed(t, s, mixed); at.tag() != "{l*a:60000}" {
		t.Errorf("policies of several subjects: %+v", at)
	}
	if tag := placed(t, s, one("a", 1, time.Minute, "user")).tag(); tag != "{l}" {
		t.Errorf("policies without a place: %s", tag)
	}
	if tag := (place{}).tag(); tag != "{*}" {
		t.Errorf("the limiter without a name: %s", tag)
	}
	single := open(t, config{settings: settings(t, "redis://127.0.0.1:1", "", patient), nodes: 1})
	if at := placed(t, single, mixed); at != (place{limiter: "l"}) || at != placed(t, single, bySubject("a", 1, "user")) {
		t.Errorf("on a single server: %+v", at)
	}
}

// Servers that share the slots evenly share the shards evenly, and shards share the subjects.
func TestShardsAreSpreadEvenly(t *testing.T) {
	for _, limiter := range []string{"", "api", strings.Repeat("x", 64)} {
		for _, servers := range []int{1, 2, 3, 4, 6, 8, 12, 24} {
			held := make([]int, servers)
			for i := range shards {
				tag := place{limiter: limiter, name: ratelimit.BySubject, shard: uint8(i)}.tag()
				held[hashslot.Of(strings.Trim(tag, "{}"))*servers/hashslot.Count]++
			}
			for _, n := range held {
				if n != shards/servers {
					t.Errorf("limiter %q: %d servers hold %v shards", limiter, servers, held)
					break
				}
			}
		}
	}
	for _, form := range []string{"%d", "user-%d@example.com", "10.0.%[1]d.7", "%032x"} {
		var n [shards]int
		const subjects = 60_000
		for i := range subjects {
			n[shardOf(hashSubject(fmt.Sprintf(form, i)))]++
		}
		for shard := range n {
			if n[shard] < subjects/shards*3/4 || n[shard] > subjects/shards*5/4 {
				t.Errorf("%s: shard %d has %d subjects of %d", form, shard, n[shard], subjects)
			}
		}
	}
	if most := shardOf(1<<16 - 1); most != shards-1 {
		t.Errorf("the last shard is %d", most)
	}
}

// testShards counts users under two policies of their own at three nodes of a cluster at once. Each
// has exactly its limits, a refused request takes nothing, and all servers have as much to do.
func testShards(t *testing.T, c *redistest.Cluster) {
	const users, perUser = 300, 12
	var nodes [3]*Source
	for i := range nodes {
		nodes[i] = open(t, config{settings: settings(t, c.URL(), "users:", patient), nodes: 3, denials: maxDenials})
	}
	var passed [users][2]atomic.Int64
	each(users*perUser, func(n int) {
		user, narrow := n%users, n/users%2
		charges := []ratelimit.Charge{bySubject("narrow", 3, fmt.Sprint(user)), bySubject("wide", 8, fmt.Sprint(user))}
		if decide(t, nodes[n/users%3], 1, charges[1-narrow:]...).Admitted {
			passed[user][narrow].Add(1)
		}
	})
	for user := range passed {
		wide, narrow := passed[user][0].Load(), passed[user][1].Load()
		if narrow > 3 || wide+narrow != 8 {
			t.Errorf("user %d: %d passed under both policies, at most 3 may, and %d under one, which makes 8", user, narrow, wide)
		}
		v := decide(t, nodes[0], 9, bySubject("narrow", 3, fmt.Sprint(user)), bySubject("wide", 8, fmt.Sprint(user)))
		if v.Results[0].Remaining != 3-narrow || v.Results[1].Remaining != 0 {
			t.Errorf("user %d: %d passed under the narrow policy; %+v remain", user, narrow, v.Results)
		}
	}
	for i, keys := range keysOf(c, "users:limit:{l[*]*") {
		if len(keys) < users/3 || len(keys) > 2*users {
			t.Errorf("server %d of three has %d keys of %d users under two policies", i, len(keys), users)
		}
	}
}

// each calls a function for all numbers below n, for 64 of them at once.
func each(n int, call func(int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				call(int(i - 1))
			}
		})
	}
	all.Wait()
}

// keysOf returns the keys that match a pattern on each of the primaries.
func keysOf(c *redistest.Cluster, pattern string) (all [3][]string) {
	for i := range all {
		all[i] = strings.Fields(c.Nodes[i].CLI("keys", pattern))
	}
	return all
}

// Callers that are made up take no more keys in the whole cluster than on one server.
func testMadeUpCallersInShards(t *testing.T, c *redistest.Cluster) {
	const most, made, limit = 600, 6000, 5
	s := open(t, config{settings: settings(t, c.URL(), "made-up:", patient), nodes: 1, denials: maxDenials, callers: most})
	var refused atomic.Int64
	each(made, func(n int) {
		charge := bySubject("tenant", limit, fmt.Sprint("made-up-", n))
		charge.Policy.Chosen = true
		if !decide(t, s, 1, charge).Admitted {
			refused.Add(1)
		}
	})
	own := 0
	for _, keys := range keysOf(c, "made-up:limit:{l[*]*") {
		for _, k := range keys {
			if !strings.Contains(k, "x60#") {
				own++
			}
		}
	}
	if own < most || own > most+shards {
		t.Errorf("%d keys of callers, want %d and one more for each shard", own, most)
	}
	if n := refused.Load(); n > made/1000 {
		t.Errorf("%d of %d were refused", n, made)
	}
}

func testSlots(t *testing.T, c *redistest.Cluster) {
	for _, tag := range []string{"*", "api", "api*17", "123456789", "\xff", strings.Repeat("x", 300)} {
		if want := c.Nodes[0].CLI("cluster", "keyslot", tag); want != strconv.Itoa(hashslot.Of(tag)) {
			t.Errorf("slot of %q is %d, Redis says %s", tag, hashslot.Of(tag), want)
		}
	}
}
