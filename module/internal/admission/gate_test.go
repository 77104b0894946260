package admission

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// bench is a gate with a clock of the test's own, whose rounds the test begins and ends.
type bench struct {
	*gate
	at time.Duration
}

const processors = 2

func newBench() *bench {
	b := &bench{at: time.Hour}
	b.gate = newGate(func() time.Duration { return b.at }, func() int { return processors })
	b.measuring.Store(true)
	b.beginRound()
	return b
}

// next ends the round and begins the next.
func (b *bench) next() {
	b.endRound()
	b.at += busy
	b.beginRound()
}

// admits sends so many requests at once and returns how many were admitted at once.
func (b *bench) admits(c Class, n int) (admitted int) {
	for range n {
		if b.admit(c) {
			admitted++
		}
	}
	return admitted
}

// crowd has rounds of 20 ms in which n requests of a class come, in the middle of each,
// and returns how many the last admitted at once.
func (b *bench) crowd(c Class, n, rounds int) (admitted int) {
	for range rounds {
		admitted = b.admits(c, 1)
		b.at += 10 * time.Millisecond
		admitted += b.admits(c, n-1)
		b.at += 10 * time.Millisecond
		b.next()
	}
	return admitted
}

// overloaded is a bench whose rounds have been long, and admit no more than they may.
func overloaded() *bench {
	b := newBench()
	b.crowd(Client, 1000, 6)
	b.refusal(Client)
	return b
}

// refusal is a wait that ends at once: its context is over.
func (b *bench) refusal(c Class) (retryAfter int) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	retryAfter, _ = b.wait(ctx, c)
	return retryAfter
}

func most(c Class) int { return limits[c].work * processors }

func TestShortRoundsAdmitEverything(t *testing.T) {
	b := newBench()
	for range 1000 {
		if got := b.admits(Anonymous, 100); got != 100 {
			t.Fatalf("%d of 100", got)
		}
		b.at += 4 * time.Millisecond
		b.next()
	}
}

func TestFewAreAdmittedHoweverLongTheRound(t *testing.T) {
	b := newBench()
	// A slow machine, or one that does other things.
	for range 100 {
		if got := b.crowd(Client, crowd*processors-1, 1); got != crowd*processors-1 {
			t.Fatalf("%d of %d", got, crowd*processors-1)
		}
		b.at += 2 * time.Second
	}
}

func TestShortBurstIsAdmitted(t *testing.T) {
	b := newBench()
	if got := b.crowd(Client, 10_000, 5); got != 10_000 {
		t.Errorf("%d of 10000 within the first 100 ms", got)
	}
	b.crowd(Client, 10, 1)
	if got := b.crowd(Client, 10_000, 5); got != 10_000 {
		t.Errorf("%d of 10000 after a round that was not full", got)
	}
}

func TestLongRoundsAreLimited(t *testing.T) { // N10
	for _, c := range []Class{Anonymous, Client} {
		b := overloaded()
		if got := b.admits(c, 1000); got != most(c) {
			t.Errorf("%s: a round admits %d, want %d", Classes[c], got, most(c))
		}
		b.next()
		if got := b.admits(c, most(c)); got != most(c) {
			t.Errorf("%s: the next round admits %d of %d", Classes[c], got, most(c))
		}
	}
}

func TestKnownRequestsAreRefusedLast(t *testing.T) { // N10
	b := overloaded()
	if got := b.admits(Known, 10_000); got != 10_000 {
		t.Errorf("%d of 10000 admitted", got)
	}
	b.at += limits[Known].wait + time.Millisecond
	if got := b.admits(Known, 10); got != 0 {
		t.Errorf("%d admitted in a round of more than %v", got, limits[Known].wait)
	}
	if retry := b.refusal(Known); retry < 1 {
		t.Errorf("Retry-After %d", retry)
	}
}

func TestOverloadLimitsLastWhileRequestsWait(t *testing.T) {
	b := overloaded()
	b.refusal(Client)
	b.at += alert - 2*busy
	b.next()
	if got := b.admits(Client, 1000); got != most(Client) {
		t.Errorf("%d admitted soon after", got)
	}
	b.at += alert
	b.next()
	if got := b.admits(Client, 1000); got != 1000 {
		t.Errorf("%d admitted long after", got)
	}
}

// Refusals are no work: of a flood that is refused, every round admits as many as ever.
func TestRefusalsDoNotUseUpRounds(t *testing.T) {
	b := overloaded()
	for range 50 {
		b.refusal(Client)
		if got := b.crowd(Client, 20_000, 1); got != most(Client) {
			t.Fatalf("a round admits %d", got)
		}
	}
}

// Whatever comes in whatever order: a round under limits admits no more than its work,
// requests with a known token aside, and never refuses what a lower class would get.
func TestLowerClassesAreRefusedFirst(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := overloaded()
		admitted := 0
		for range 5000 {
			c := Class(r.IntN(int(classes)))
			if b.admit(c) {
				if admitted++; c != Known && admitted > most(c) {
					t.Fatalf("seed %d: %s admitted as number %d", seed, Classes[c], admitted)
				}
			} else {
				if retry := b.refusal(c); retry < 1 || retry > longest {
					t.Fatalf("Retry-After %d", retry)
				}
				for lower := range c {
					if b.admit(lower) {
						t.Fatalf("seed %d: %s admitted while %s is refused", seed, Classes[lower], Classes[c])
					}
				}
			}
			if r.IntN(50) == 0 {
				b.next()
				admitted = 0
			}
		}
	}
}

func TestRetryAfterIsSpreadOut(t *testing.T) {
	b := overloaded()
	for range 2000 {
		b.refusal(Client)
	}
	b.at += time.Second
	var seconds [longest + 1]int
	for range 2000 {
		seconds[b.refusal(Client)]++
	}
	for s, n := range seconds {
		if n > 2*returning {
			t.Errorf("%d of 2000 come back after %d s", n, s)
		}
	}
	b.at += time.Minute
	if retry := b.refusal(Client); retry != 1 {
		t.Errorf("a few refusals later: %d", retry)
	}
}

// Those who wait are admitted in the order in which they came, each round as many as it may.
func TestQueueIsFirstInFirstOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := overloaded()
		b.queue.took = 0 // as if rounds were short
		b.admits(Client, most(Client))
		var mu sync.Mutex
		var order []int
		n := 2*most(Client) + 3
		for i := range n {
			go func() {
				if _, ok := b.wait(t.Context(), Client); !ok {
					t.Error("refused")
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
			}()
			synctest.Wait()
		}
		for _, want := range []int{most(Client), 2 * most(Client), n, n} {
			b.next()
			synctest.Wait()
			if len(order) != want {
				t.Errorf("%d have been admitted, want %d", len(order), want)
			}
		}
		for i := 0; i < len(order); i += most(Client) {
			for _, got := range order[i:min(i+most(Client), len(order))] {
				if got/most(Client) != i/most(Client) {
					t.Errorf("number %d was admitted in round %d", got, i/most(Client))
				}
			}
		}
		if b.queue.length() != 0 {
			t.Errorf("%d are left", b.queue.length())
		}
	})
}

// A request is refused at once when it would wait longer than its class may; a round's
// work may always wait, however long rounds are.
func TestQueueLengthFollowsItsMaximumWait(t *testing.T) {
	for _, c := range []struct {
		class Class
		took  time.Duration
		want  int
	}{
		{Client, time.Second, most(Client)},
		{Anonymous, time.Second, most(Anonymous)},
		{Client, limits[Client].wait / 3, 3 * most(Client)},
		{Anonymous, limits[Anonymous].wait / 3, 3 * most(Anonymous)},
		{Client, 0, maxWaiting},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := overloaded()
			b.queue.took = c.took
			ctx, cancel := context.WithCancel(t.Context())
			for range 10 * maxWaiting {
				go b.wait(ctx, c.class)
			}
			synctest.Wait()
			if got := b.queue.length(); got != c.want {
				t.Errorf("%s, rounds of %v: %d wait, want %d", Classes[c.class], c.took, got, c.want)
			}
			cancel()
			synctest.Wait()
			b.admit(Client)
			b.next()
			if got := b.admits(Client, most(Client)); got != most(Client) || b.queue.length() != 0 {
				t.Errorf("clients that went away are still counted: %d admitted, %d wait", got, b.queue.length())
			}
		})
	}
}

// The real scheduler: many goroutines at once, and all is admitted again afterwards.
func TestProcessGateUnderTheRealScheduler(t *testing.T) {
	g := processGate()
	var wg sync.WaitGroup
	for range 500 {
		wg.Go(func() {
			for range 100 {
				if !g.admit(Client) {
					g.wait(t.Context(), Client)
				}
				for end := time.Now().Add(20 * time.Microsecond); time.Now().Before(end); {
				}
			}
		})
	}
	wg.Wait()
	admitted := 0
	for end := time.Now().Add(5 * time.Second); admitted < 100; time.Sleep(time.Millisecond) {
		if g.admit(Anonymous) {
			admitted++
		}
		if time.Now().After(end) {
			t.Fatal("refused when it is quiet")
		}
	}
	for end := time.Now().Add(5 * time.Second); g.measuring.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it measures although no requests come")
		}
	}
	if g.admit(Client); !g.measuring.Load() {
		t.Fatal("it does not measure although a request came")
	}
}

// However many requests with known tokens there are, those in the queue are admitted.
func TestKnownRequestsDoNotStarveTheQueue(t *testing.T) { // N10
	synctest.Test(t, func(t *testing.T) {
		b := overloaded()
		b.queue.took = 0
		b.admits(Client, most(Client))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var answered atomic.Int64
		for range most(Client) {
			go func() {
				if _, ok := b.wait(ctx, Client); ok {
					answered.Add(1)
				}
			}()
			synctest.Wait()
		}
		for range 3 {
			b.endRound()
			b.at += busy
			b.admits(Known, 1000)
			b.beginRound()
			synctest.Wait()
		}
		if got := answered.Load(); got != int64(most(Client)) {
			t.Errorf("%d of %d were admitted in three rounds", got, most(Client))
		}
	})
}

// Requests that come when measuring is about to end do not wait for another to come.
func TestEndOfMeasuringLeavesNoRequestWaiting(t *testing.T) { // N10
	for at := time.Duration(0); at < (lull+5)*busy; at += busy / 4 {
		synctest.Test(t, func(t *testing.T) {
			g := processGate()
			g.limited.Store(int64(g.now()))
			g.admit(Client)
			time.Sleep(at)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			var wg sync.WaitGroup
			for range 2 * limits[Client].work * int(g.processors.Load()) {
				if g.admit(Client) {
					continue
				}
				wg.Go(func() {
					if _, ok := g.wait(ctx, Client); !ok && ctx.Err() != nil {
						t.Errorf("%v after the first: a request waits for ever", at)
					}
				})
			}
			wg.Wait()
			time.Sleep(10 * time.Second) // until measuring has ended
		})
	}
}
