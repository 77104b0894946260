//go:build !race

// One goroutine asks for many sources, which takes long with -race:
// ./xcaddy.sh test runs tests of files like this without -race.

package fairshare

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"
	"time"
)

// How many addresses it takes to stop everybody, with the common limit of /par and
// /device_authorization, where 20 and 30 sufficed before.
func TestBlockingANewcomerTakesManyNetworks(t *testing.T) {
	const limit = 600
	stopped := func(of []Source, take func(*Rate, []Source)) bool {
		r := NewRate(limit, time.Minute, newClock().now)
		take(r, of)
		for _, s := range []Source{From("198.51.100.1"), From("2a00:1::1")} {
			if ok, _ := r.Take(s, 1); ok {
				return false
			}
		}
		return true
	}
	for name, c := range map[string]struct {
		bits, most int
		never      bool
	}{
		"IPv4 addresses, each of another /16": {4, 2 * limit, false},
		"IPv4 addresses of one /16":           {16, 65536, true},
		"/64 of one /48":                      {64, 65536, true},
		"/64, each of another /48, of a /32":  {48, 65536, true},
		"/64, each of another /32":            {32, 2 * limit, false},
	} {
		for in, take := range orders {
			if c.never {
				if stopped(networks(c.most, c.bits), take) {
					t.Errorf("%s: %d %s stop a newcomer", name, c.most, in)
				}
				continue
			}
			least := sort.Search(c.most, func(n int) bool { return stopped(networks(n, c.bits), take) })
			t.Logf("%s: %d %s stop a newcomer", name, least, in)
			if least < limit/2 {
				t.Errorf("%s: %d %s stop a newcomer, want more than %d", name, least, in, limit/2)
			}
		}
	}
}

// Whatever the mixture of greedy addresses and networks, as long as there are few of them,
// who had nothing yet gets something, the total is kept, and so is the memory.
func TestNewSourceIsAdmittedUnderLoad(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 7))
		limit := 50 + random.IntN(500)
		c := newClock()
		r := NewRate(limit, time.Minute, c.now)
		var crowd []Source
		for range 1 + random.IntN(10) { // as many unrelated networks, with neighbours each
			net := random.IntN(1 << 12)
			for i := range 1 + random.IntN(50) {
				if net%2 == 0 {
					crowd = append(crowd, From(fmt.Sprintf("2%03x:1:2:%x::1", net, i)))
				} else {
					crowd = append(crowd, From(fmt.Sprintf("%d.%d.%d.%d", 1+net%200, net/200, net%7, i)))
				}
			}
		}
		for range 200 {
			for range random.IntN(limit) {
				r.Take(crowd[random.IntN(len(crowd))], 1+random.IntN(3))
			}
			if r.share.totalUnits() > limit+limit/2 || len(r.log) > limit+limit/2 || len(r.share.open.of)+len(r.share.reserve.of) > 6*limit {
				t.Fatalf("seed %d: %d of %d units in %d entries and %d networks", seed, r.share.totalUnits(), limit, len(r.log), len(r.share.open.of))
			}
			newcomer := From("3fff:1::1")
			if r.share.heldBy(newcomer) == 0 {
				if ok, _ := r.Take(newcomer, 1); !ok {
					t.Fatalf("seed %d: a newcomer is refused with %d of %d units taken by %d sources", seed, r.share.totalUnits(), limit, len(crowd))
				}
			}
			c.pass(time.Duration(random.IntN(30)) * time.Second)
		}
		c.pass(time.Minute)
		r.expireUnits(r.now().Sub(r.start))
		if r.share.totalUnits() != 0 || len(r.share.open.of)+len(r.share.reserve.of) != 0 || len(r.log) != 0 {
			t.Fatalf("seed %d: after the window %d units, %d networks, %d entries are held", seed, r.share.totalUnits(), len(r.share.open.of), len(r.log))
		}
	}
}
