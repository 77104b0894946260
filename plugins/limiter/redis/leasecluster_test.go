package redis

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// ofUser is a charge of a user for whom Redis grants leases.
func ofUser(n int) ratelimit.Charge {
	c := one("leased", 960, time.Hour, fmt.Sprint("user", n))
	c.Policy.Place = ratelimit.BySubject
	return c
}

// keyOfUser returns the key that counts a user.
func keyOfUser(t *testing.T, s *Source, n int) string {
	t.Helper()
	return encodeRequest(s.pipeline(placed(t, s, ofUser(n))).head, &ratelimit.Request{Charges: []ratelimit.Charge{ofUser(n)}}, keyBudget{}).charges[0].key
}

// testLeasesInShards has three nodes serve users of a cluster at once, of which one dies. Each user is admitted as
// often as the limit says, less what the dead node held for it.
func testLeasesInShards(t *testing.T, c *redistest.Cluster) {
	const users, early, limit = 24, 400, 960
	var nodes [3]*Source
	for i := range nodes {
		nodes[i] = open(t, config{settings: settings(t, c.URL(), "leased:", patient), nodes: 3, denials: maxDenials, leases: maxLeases})
	}
	var passed [users]atomic.Int64
	each(users*early, func(n int) {
		if !decide(t, nodes[n/users%3], 1, ofUser(n%users)).Admitted {
			t.Errorf("user %d was refused early", n%users)
		}
		passed[n%users].Add(1)
	})
	var lost [users]int64
	held := int64(0)
	for user := range lost {
		lost[user] = idleAt(nodes[0], keyOfUser(t, nodes[0], user))
		held += lost[user]
	}
	if err := nodes[0].conn.close(); err != nil { // without giving back
		t.Fatal(err)
	}
	each(users*limit, func(n int) {
		if decide(t, nodes[1+n/users%2], 1, ofUser(n%users)).Admitted {
			passed[n%users].Add(1)
		}
	})
	for _, s := range nodes[1:] {
		s.giveBackUnused(true)
		s.denials = nil
	}
	for user := range passed {
		for decide(t, nodes[1], 1, ofUser(user)).Admitted {
			passed[user].Add(1)
		}
		if got := passed[user].Load(); got != limit-lost[user] || lost[user] > limit/leasePart {
			t.Errorf("user %d: %d passed, of %d less %d that a dead node held", user, got, limit, lost[user])
		}
	}
	t.Logf("the dead node held %d", held)
}

// testGiveBackBesideALostServer freezes a server: what belongs to the others is given back nevertheless.
func testGiveBackBesideALostServer(t *testing.T, c *redistest.Cluster) {
	s := open(t, config{settings: settings(t, c.URL(), "beside:", time.Second), nodes: 1, denials: maxDenials, leases: maxLeases})
	var lost, others []int
	frozen := c.Holder(place{limiter: "l", name: ratelimit.BySubject}.tag())
	for user, seen := 0, make(map[place]bool); len(lost) < 3 || len(others) < 10; user++ {
		at := placed(t, s, ofUser(user))
		switch {
		case seen[at]:
			continue
		case c.Holder(at.tag()) != frozen:
			others = append(others, user)
		case len(lost) < 3:
			lost = append(lost, user)
		}
		seen[at] = true
	}
	used := make(map[int]int64)
	for _, user := range append(lost, others...) {
		for used[user] < 200 || idleAt(s, keyOfUser(t, s, user)) == 0 {
			decide(t, s, 1, ofUser(user))
			used[user]++
		}
	}
	frozen.Freeze()
	s.giveBackUnused(true)
	frozen.Thaw()
	for _, user := range others {
		if v := decide(t, s, 961, ofUser(user)); v.Results[0].Remaining != 960-used[user] { // refused: it takes nothing
			t.Errorf("user %d: %d remain of 960 after %d", user, v.Results[0].Remaining, used[user])
		}
	}
}
