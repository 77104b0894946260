package redis

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

// rounds is how often a primary is killed.
func rounds() int {
	if os.Getenv("GATEHOUSE_SOAK") != "" {
		return 20
	}
	return 1
}

var turn sync.Mutex

// waitForTurn has the tests in which servers are lost run one after the other: they measure how long requests take.
func waitForTurn(t *testing.T) {
	turn.Lock()
	t.Cleanup(turn.Unlock)
}

// codes are used in each round, while the primary dies.
const codes = 200

// E06: what was answered as used stays used when the primary is killed, with the write
// concern on; without it the number is reported.
func TestAUsedRecordStaysUsedAcrossFailovers(t *testing.T) {
	t.Parallel()
	waitForTurn(t)
	concerns := []int{1}
	if rounds() > 1 {
		concerns = append(concerns, 0)
	}
	for _, replicas := range concerns {
		t.Run(fmt.Sprint("replicas ", replicas), func(t *testing.T) {
			s := redistest.SharedSentinel(t) // the parallel tests are the last
			o := options(t, s.URL())
			o.Replicas = replicas
			b := open(t, o)
			var all failover
			for round := range rounds() {
				one := killWhileUsing(t, s, b, round)
				all = failover{all.answered + one.answered, all.again + one.again, max(all.slowest, one.slowest), max(all.back, one.back)}
			}
			t.Logf("%d failovers: %d codes answered as used, %d could be used again; whoever was not answered knew after %v at the latest; writing again %v after the promotion at the latest",
				rounds(), all.answered, all.again, all.slowest, all.back)
			if all.slowest > within {
				t.Errorf("a request was told after %v that there is no Redis", all.slowest)
			}
			if replicas > 0 && all.again > 0 {
				t.Errorf("%d of %d could be used again", all.again, all.answered)
			}
			if all.answered == 0 {
				t.Error("nothing was used before the primary died")
			}
		})
	}
}

// failover is what became of codes that were used while the primary died.
type failover struct {
	answered, again int
	slowest         time.Duration // of the requests that met a fault
	back            time.Duration // from the promotion to the next write
}

// redeem is what a request does with a code: it reads and marks it, and when nobody says
// what became of that, it looks.
func redeem(ctx context.Context, b *Backend, key store.Key) error {
	ctx = store.OneRequest(ctx)
	r, err := b.Get(ctx, key)
	if err != nil {
		return err
	}
	r.Value = []byte("used")
	if _, err = b.Swap(ctx, r); err != nil && !store.IsAnswer(err) {
		_, _ = b.Get(ctx, key)
	}
	return err
}

// slowest is the longest that a request took that met a fault.
type slowest struct {
	mu   sync.Mutex
	took time.Duration
}

func (s *slowest) since(begin time.Time) {
	took := time.Since(begin)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = max(s.took, took)
}

// redeemOver redeems a few records again and again until it is told to stop, and to wait.
func redeemOver(t *testing.T, b *Backend, round int, told *slowest) (stop func()) {
	ending, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for i := range 4 {
		r := must2(createSlowly(t.Context(), b, fmt.Sprint("over ", round, ".", i)))(t)
		running.Go(func() {
			for ending.Err() == nil {
				begin := time.Now()
				if err := redeem(t.Context(), b, r.Key); err != nil && !store.IsAnswer(err) {
					told.since(begin)
				}
				_ = redisconn.Sleep(ending, 2*time.Millisecond)
			}
		})
	}
	return sync.OnceFunc(func() { end(); running.Wait() })
}

// createSlowly makes a record on a machine that may be busy: what is tested comes after that. Each attempt has a name of
// its own, since one whose answer was late may have worked.
func createSlowly(ctx context.Context, b *Backend, name string) (made store.Record, err error) {
	for attempt := range 20 {
		r := record(fmt.Sprint(name, ".", attempt))
		r.Parent, r.Value = "", []byte("issued")
		if made, err = b.Create(ctx, r); err == nil || store.IsAnswer(err) {
			return made, err
		}
		_ = redisconn.Sleep(ctx, 50*time.Millisecond)
	}
	return made, err
}

func killWhileUsing(t *testing.T, s *redistest.Sentinel, b *Backend, round int) (f failover) {
	issued := make(chan store.Record, codes)
	var making sync.WaitGroup
	for w := range 16 {
		making.Go(func() {
			for i := w; i < codes; i += 16 {
				made, err := createSlowly(t.Context(), b, fmt.Sprint(round, ".", i))
				if err != nil {
					t.Error(err)
					return
				}
				issued <- made
			}
		})
	}
	making.Wait()
	close(issued)
	if t.Failed() {
		t.FailNow()
	}
	var used sync.Map
	var n atomic.Int64
	var told slowest
	stop := redeemOver(t, b, round, &told)
	defer stop()
	var using sync.WaitGroup
	enough := make(chan struct{})
	var once sync.Once
	for range 8 {
		using.Go(func() {
			for r := range issued {
				begin := time.Now()
				if err := redeem(t.Context(), b, r.Key); err == nil {
					used.Store(r.ID, true)
					n.Add(1)
				} else if store.IsAnswer(err) {
					t.Errorf("a code while the primary dies: %v", err)
				} else {
					told.since(begin)
				}
				if n.Load() == codes/3 {
					once.Do(func() { close(enough) })
				}
			}
		})
	}
	var revoked []string
	using.Go(func() {
		for i := 0; ; i++ {
			r := revocation(fmt.Sprint(round, ".", i))
			if _, err := b.Create(t.Context(), r); err != nil {
				return
			}
			revoked = append(revoked, r.ID)
		}
	})
	<-enough
	killed := s.KillPrimary()
	using.Wait()
	s.WaitPromoted(killed)
	promoted := time.Now()
	if b.wait.Replicas > 0 {
		s.Rejoin(killed)
		promoted = time.Now()
	}
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		_, err := b.Create(t.Context(), record(fmt.Sprint("after", time.Now().UnixNano())))
		if err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("10 s after the promotion: %v", err)
		}
	}
	f.back = time.Since(promoted)
	stop()
	f.slowest = told.took
	if b.wait.Replicas > 0 {
		other, err := Open(Options{Settings: b.settings})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = other.Close() }()
		feed := watch(t, other)
		for _, id := range revoked {
			if !feed.seen[id] {
				t.Errorf("the revocation %s is lost", id)
			}
		}
		t.Logf("%d revocations", len(revoked))
	}
	used.Range(func(id, _ any) bool {
		f.answered++
		r, err := b.Get(t.Context(), store.Key{Kind: "k", ID: id.(string)})
		if err != nil || string(r.Value) != "used" {
			f.again++
		}
		return true
	})
	if b.wait.Replicas == 0 {
		s.Rejoin(killed)
	}
	return f
}

// Everything one gateway wrote before the primary of a part died is there afterwards, and
// everything can be written, without a restart.
func TestClusterRecoversFromLosingAPrimary(t *testing.T) {
	t.Parallel()
	waitForTurn(t)
	c := redistest.SharedCluster(t) // as above
	o := options(t, c.URL())
	o.Replicas = 1
	b := open(t, o)
	var made []store.Record
	for i := range 30 {
		made = append(made, must2(b.Create(t.Context(), record(fmt.Sprint(i))))(t))
	}
	f := watch(t, b)
	must2(b.Create(t.Context(), revocation("before")))(t)
	f.has(t, "before", time.Second)
	dead := c.Holder(b.recordKey(made[0].Key))
	elsewhere := made[1]
	for _, r := range made {
		if c.Holder(b.recordKey(r.Key)) != dead {
			elsewhere = r
		}
	}
	dead.Freeze()
	stuck := time.Now()
	_, err := b.Swap(t.Context(), made[0])
	technical(t, "Swap", err)
	_, err = b.Get(t.Context(), made[0].Key)
	technical(t, "Get", err)
	if took := time.Since(stuck); took > within {
		t.Errorf("a swap and a look at a server that stands still took %v", took)
	}
	if _, err := b.Get(t.Context(), elsewhere.Key); err != nil {
		t.Errorf("Get from a server that works: %v", err)
	}
	dead.Thaw()
	dead.Kill()
	t.Cleanup(dead.Restart)
	begin := time.Now()
	_, err = b.Get(t.Context(), made[0].Key)
	technical(t, "Get", err)
	for i := 0; i < len(made); {
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("%v after the kill: %v", time.Since(begin), err)
		}
		r := made[i]
		if r, err = b.Get(t.Context(), r.Key); err == nil {
			_, err = b.Swap(t.Context(), r)
		}
		if err == nil || strings.Contains(err.Error(), "replicas") { // the part has none left
			i++
			continue
		}
		technical(t, "Get or Swap", err)
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("all parts serve %v after the kill", time.Since(begin))
	found, err := b.List(t.Context(), "k", "p", "", 100)
	if err != nil || len(found) != len(made) {
		t.Errorf("List: %d records, %v", len(found), err)
	}
}
