package apiproxy

import (
	"math"
	"slices"
	"testing"
	"time"
)

// Three servers, and which of them six requests in a row are sent to.
func TestChoiceOfServer(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		policy string
		active [3]int64         // requests in progress
		out    [3]time.Duration // from now on
		tried  []int
		want   []int
	}{
		"each in turn":                     {"round_robin", [3]int64{9, 0, 0}, [3]time.Duration{}, nil, []int{1, 2, 0, 1, 2, 0}},
		"each in turn by default":          {"", [3]int64{9, 0, 0}, [3]time.Duration{}, nil, []int{1, 2, 0, 1, 2, 0}},
		"the least busy":                   {"least_conn", [3]int64{2, 3, 1}, [3]time.Duration{}, nil, []int{2, 2, 2, 2, 2, 2}},
		"equally busy in turn":             {"least_conn", [3]int64{1, 1, 1}, [3]time.Duration{}, nil, []int{1, 2, 0, 1, 2, 0}},
		"one is out":                       {"round_robin", [3]int64{}, [3]time.Duration{0, time.Second, 0}, nil, []int{2, 2, 0, 2, 2, 0}},
		"the least busy is out":            {"least_conn", [3]int64{2, 3, 1}, [3]time.Duration{0, 0, time.Second}, nil, []int{0, 0, 0, 0, 0, 0}},
		"one was out until now":            {"round_robin", [3]int64{}, [3]time.Duration{0, -time.Nanosecond, 0}, nil, []int{1, 2, 0, 1, 2, 0}},
		"all are out: the first to return": {"least_conn", [3]int64{0, 9, 0}, [3]time.Duration{3 * time.Second, time.Second, 2 * time.Second}, nil, []int{1, 1, 1, 1, 1, 1}},
		"tried ones are left out":          {"round_robin", [3]int64{}, [3]time.Duration{}, []int{1}, []int{2, 2, 0, 2, 2, 0}},
		"one that is out before none":      {"round_robin", [3]int64{}, [3]time.Duration{0, 0, time.Second}, []int{0, 1}, []int{2, 2, 2, 2, 2, 2}},
		"all were tried":                   {"least_conn", [3]int64{}, [3]time.Duration{}, []int{0, 1, 2}, []int{-1, -1, -1, -1, -1, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &Proxy{Policy: c.policy}
			for i := range 3 {
				s := new(server)
				s.active.Store(c.active[i])
				if c.out[i] != 0 {
					s.leaveOut(now.Add(c.out[i]))
				}
				p.servers = append(p.servers, s)
			}
			tried := uint64(0)
			for _, n := range c.tried {
				tried |= 1 << n
			}
			var got []int
			for range 6 {
				s, n := p.choose(tried, now)
				if s == nil {
					n = -1
				} else if p.servers[n] != s {
					t.Fatalf("the server and its number %d differ", n)
				}
				got = append(got, n)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// The count of requests begins anew at some point, for 32-bit integers after 2,147,483,647.
func TestTurnOverflows(t *testing.T) {
	p := &Proxy{servers: []*server{new(server), new(server), new(server)}}
	for _, before := range []uint32{math.MaxInt32 - 1, math.MaxUint32 - 1} {
		p.next.Store(before)
		for range 4 {
			if s, _ := p.choose(0, time.Now()); s == nil {
				t.Fatal("no server")
			}
		}
	}
}
