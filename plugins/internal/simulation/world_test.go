package simulation

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// world is a run of the simulation.
type world struct {
	*cluster
	*testing.T
	random *rand.Rand // of the faults
	lasts  time.Duration
}

// nodes of the gateway.
const nodes = 100

// run simulates a quarter of a minute, or a thousand seconds for each of some seeds in the long
// form. GATEHOUSE_SEED repeats one.
func run(t *testing.T, skew [servers]time.Duration, play func(w *world)) {
	lasts, seeds := 15*time.Second, []uint64{1}
	if os.Getenv("GATEHOUSE_SOAK") != "" {
		lasts, seeds = 1000*time.Second, []uint64{1, 2}
	}
	if text := os.Getenv("GATEHOUSE_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = []uint64{seed}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			// A sync.Pool must not give a channel of the last run to this one: two collections
			// empty it.
			runtime.GC()
			runtime.GC()
			synctest.Test(t, func(t *testing.T) {
				t.Cleanup(func() { time.Sleep(time.Minute) }) // for goroutines of go-redis, which Close does not wait for
				w := &world{newCluster(t, seed, skew), t, rand.New(rand.NewPCG(seed, 2)), lasts}
				play(w)
			})
		})
	}
}

// source of random numbers for one actor.
func (w *world) numbers(actor int) *rand.Rand {
	return rand.New(rand.NewPCG(w.random.Uint64(), uint64(actor)))
}

// disturb lets partitions and broken connections happen until stop is closed, with quiet in
// between. It returns when the last has ended.
func (w *world) disturb(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(w.random.Int64N(int64(5 * time.Second)))):
		}
		lasts := time.Duration(w.random.Int64N(int64(3 * time.Second)))
		server, share := w.random.IntN(servers), w.random.Float64()
		switch w.random.IntN(4) {
		case 0: // some nodes lose one server
			lost := make(map[int]bool)
			for node := range nodes {
				lost[node] = w.random.Float64() < share
			}
			w.partition(lasts, func(r route) bool { return r.server == server && lost[r.node] })
		case 1: // all lose it
			w.partition(lasts, func(r route) bool { return r.server == server })
		case 2: // some nodes lose everything
			first := w.random.IntN(nodes)
			w.partition(lasts, func(r route) bool { return (r.node-first+nodes)%nodes < nodes/10 })
		case 3:
			w.reset(share)
		}
	}
}
