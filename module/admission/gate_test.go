package admission

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// bench is a gate with a clock of the test's own, whose rounds the test begins and ends.
type bench struct {
	*Gate
	at time.Duration
}

const processors = 2

func newBench() *bench {
	b := &bench{at: time.Hour}
	b.Gate = &Gate{now: func() time.Duration { return b.at }, count: func() int { return processors }}
	b.processors.Store(processors)
	b.measuring.Store(true)
	b.begin()
	return b
}

// next ends the round and begins the next.
func (b *bench) next() {
	b.end()
	b.at += busy
	b.begin()
}

// admits sends so many requests at once and returns how many were admitted.
func (b *bench) admits(c Class, n int) (admitted int) {
	for range n {
		if _, ok := b.Admit(c); ok {
			admitted++
		}
	}
	return admitted
}

// crowd has rounds of 20 ms in which n requests of a class come, in the middle of each,
// and returns how many the last admitted.
func (b *bench) crowd(c Class, n, rounds int) (admitted int) {
	for range rounds {
		b.admits(c, 1)
		b.at += 10 * time.Millisecond
		admitted = 1 + b.admits(c, n-1)
		b.at += 10 * time.Millisecond
		b.next()
	}
	return admitted
}

func most(c Class) int { return limits[c].work * processors }

func TestEverythingIsAdmittedWhileRoundsAreShort(t *testing.T) {
	b := newBench()
	for range 1000 {
		if got := b.admits(Anonymous, 100); got != 100 {
			t.Fatalf("%d of 100", got)
		}
		b.at += 4 * time.Millisecond
		b.next()
	}
}

func TestFewAreAdmittedHoweverLongRoundsAre(t *testing.T) {
	b := newBench()
	// A slow machine, or one that does other things.
	for range 100 {
		if got := b.crowd(Client, most(Client), 1); got != most(Client) {
			t.Fatalf("%d of %d", got, most(Client))
		}
		b.at += 2 * time.Second
	}
}

func TestACrowdThatIsSoonGoneIsAdmitted(t *testing.T) {
	b := newBench()
	if got := b.crowd(Client, 10_000, 5); got != 10_000 {
		t.Errorf("%d of 10000 within the first 100 ms", got)
	}
	b.crowd(Client, 10, 1)
	if got := b.crowd(Client, 10_000, 5); got != 10_000 {
		t.Errorf("%d of 10000 after a round that was not full", got)
	}
}

func TestFullRoundsAdmitNoMore(t *testing.T) { // N10
	for c := range classes {
		b := newBench()
		work, rounds := most(c), 8
		if c == Known {
			rounds = 40
		}
		b.crowd(c, 10_000, rounds)
		got := 0
		for range 100 { // one round of 2 s, as a crowd makes it
			got += b.admits(c, 1000)
			b.at += 20 * time.Millisecond
		}
		within := int(limits[c].wait/(20*time.Millisecond)+1) * 1000
		if c == Known && got == 100_000 || c != Known && got != max(work, within) {
			t.Errorf("%s: %d admitted in one round, want %d", Classes[c], got, max(work, within))
		}
		b.next()
		if got := b.admits(c, work); got != work {
			t.Errorf("%s: the next round admits %d of %d", Classes[c], got, work)
		}
	}
}

func TestAfterARefusalOneFullRoundSuffices(t *testing.T) {
	b := newBench()
	b.crowd(Client, 1000, 10)
	b.crowd(Client, 10, 10)
	if got := b.crowd(Client, 1000, 1); got != most(Client) {
		t.Errorf("%d admitted soon after", got)
	}
	b.at += alert
	b.crowd(Client, 10, 1)
	if got := b.crowd(Client, 1000, 1); got != 1000 {
		t.Errorf("%d admitted long after", got)
	}
}

// Refusals are no work: of a flood that is refused, every round admits as many as ever.
func TestRefusalsDoNotFillRounds(t *testing.T) {
	b := newBench()
	for range 50 {
		if got := b.crowd(Client, 20_000, 1); got < most(Client) {
			t.Fatalf("a round admits %d", got)
		}
	}
}

// While a class is refused all lower ones are, and it is never refused in a round that has
// admitted less work than its limit, or that is younger.
func TestLowerClassesAreRefusedFirst(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := newBench()
		began, admitted := b.at, 0
		for range 5000 {
			c := Class(r.IntN(int(classes)))
			retry, ok := b.Admit(c)
			if ok {
				admitted++
			} else {
				if admitted < most(c) || b.at-began <= limits[c].wait {
					t.Fatalf("seed %d: %s refused after %d admitted in %v", seed, Classes[c], admitted, b.at-began)
				}
				if retry < 1 || retry > longest {
					t.Fatalf("Retry-After %d", retry)
				}
				for lower := range c {
					if _, ok := b.Admit(lower); ok {
						t.Fatalf("seed %d: %s admitted while %s is refused", seed, Classes[lower], Classes[c])
					}
				}
			}
			if ok && r.IntN(10) == 0 || r.IntN(50) == 0 {
				b.at += time.Duration(r.IntN(3000)) * time.Microsecond
			}
			if r.IntN(300) == 0 {
				b.next()
				began, admitted = b.at, 0
			}
		}
	}
}

func TestRefusedClientsComeBackSpreadOut(t *testing.T) {
	b := newBench()
	b.crowd(Client, 1000, 10)
	var seconds [longest + 1]int
	b.admits(Client, most(Client))
	b.at += time.Second
	for range 2000 {
		retry, ok := b.Admit(Client)
		if ok {
			t.Fatal("admitted")
		}
		seconds[retry]++
	}
	for s, n := range seconds {
		if n > 2*returning {
			t.Errorf("%d of 2000 come back after %d s", n, s)
		}
	}
	b.at += time.Minute
	b.next()
	b.crowd(Client, most(Client)-5, 20)
	b.crowd(Client, most(Client)+5, 10)
	b.admits(Client, most(Client))
	b.at += time.Second
	if retry, ok := b.Admit(Client); ok || retry != 1 {
		t.Errorf("a few refusals later: %d %v", retry, ok)
	}
}

// The real scheduler: many goroutines at once, and all is admitted again afterwards.
func TestAGateOfTheProcess(t *testing.T) {
	g := New()
	var wg sync.WaitGroup
	for range 500 {
		wg.Go(func() {
			for range 100 {
				g.Admit(Client)
				for end := time.Now().Add(20 * time.Microsecond); time.Now().Before(end); {
				}
			}
		})
	}
	wg.Wait()
	admitted := 0
	for end := time.Now().Add(5 * time.Second); admitted < 100; time.Sleep(time.Millisecond) {
		if _, ok := g.Admit(Anonymous); ok {
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
	if g.Admit(Client); !g.measuring.Load() {
		t.Fatal("it does not measure although a request came")
	}
}
