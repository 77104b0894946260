package revocationlist

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

var errDown = errors.New("the store is down")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func hour() time.Duration { return time.Hour }

// fed is a feed in a bubble of synctest, with what it logs.
func fed(t *testing.T, s store.Backend) (*List, *lines, context.CancelFunc, chan error) {
	t.Helper()
	log := new(lines)
	r, err := New(Config{Store: s, MaxTokenLife: hour, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	synctest.Wait()
	return r, log, stop, done
}

// lines is a log that is read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func check(r *List) error {
	_, err := r.Revoked(Token{})
	return err
}

func TestLostFeedServesItsLastStateForAWhile(t *testing.T) { // G37
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(nil)
		r, log, stop, done := fed(t, m)
		if err := check(r); err != nil {
			t.Fatal(err)
		}
		if err := r.Revoke(t.Context(), store.Revocation{Of: store.RevokeGrant, Value: "g"}); err != nil {
			t.Fatal(err)
		}
		m.Fail(errDown)
		time.Sleep(30 * time.Second)
		if err := check(r); err != nil {
			t.Errorf("30 s after the loss: %v", err)
		}
		time.Sleep(time.Second)
		if err := check(r); !errors.Is(err, errStale) {
			t.Errorf("31 s after the loss: %v", err)
		}
		if revoked, err := r.Revoked(Token{Grant: "g"}); !revoked || err != nil {
			t.Errorf("what is known to be revoked stays so: %v, %v", revoked, err)
		}
		time.Sleep(time.Hour)
		if n := strings.Count(log.String(), "is lost"); n < 2 || n > 3600/4 {
			t.Errorf("%d attempts in an hour", n)
		}
		m.Fail(nil)
		time.Sleep(maxPause)
		synctest.Wait()
		if err := check(r); err != nil {
			t.Errorf("after the store came back: %v", err)
		}
		if !strings.Contains(log.String(), "complete again") {
			t.Error("its return must be logged")
		}
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
		time.Sleep(31 * time.Second)
		if err := check(r); !errors.Is(err, errStale) {
			t.Errorf("31 s after Run ended: %v", err)
		}
	})
}

func TestUnstartedFeedWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(nil)
		m.Fail(errDown)
		r, _, stop, done := fed(t, m)
		time.Sleep(10 * time.Second)
		if err := check(r); !errors.Is(err, errNotLoaded) {
			t.Errorf("Check = %v", err)
		}
		m.Fail(nil)
		time.Sleep(maxPause)
		synctest.Wait()
		if err := check(r); err != nil {
			t.Error(err)
		}
		stop()
		<-done
	})
}

// half delivers a part of the load and hangs, or ends without a word.
type half struct {
	store.Backend
	end bool
}

func (h half) Watch(ctx context.Context, _ store.Kind, deliver func([]store.Record)) error {
	rv := store.Revocation{Of: store.RevokeGrant, Value: "g", At: time.Now()}
	value, err := store.Encode(&rv)
	if err != nil {
		return err
	}
	deliver([]store.Record{{Key: rv.Key(), Value: value, Expires: time.Now().Add(time.Hour)}})
	if h.end {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func TestIncompleteRevocationListIsInForceButNotReady(t *testing.T) {
	for _, end := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r, _, stop, done := fed(t, half{storetest.NewMemory(nil), end})
			time.Sleep(time.Minute)
			if err := check(r); !errors.Is(err, errNotLoaded) {
				t.Errorf("Check = %v", err)
			}
			if revoked, _ := r.Revoked(Token{Grant: "g"}); !revoked {
				t.Error("what was delivered must be in force at once")
			}
			stop()
			<-done
		})
	}
}

func TestUnreadableRevocationClosesTheGuard(t *testing.T) {
	for name, value := range map[string]string{
		"no JSON":      "x",
		"newer schema": `{"v":99,"of":"grant","value":"g"}`,
		"unknown kind": `{"v":1,"of":"planet","value":"g"}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			m := storetest.NewMemory(nil)
			r, log, stop, done := fed(t, m)
			record := store.Record{Key: store.Key{Kind: store.KindRevocation, ID: "x"}, Parent: store.RevocationParent, Value: []byte(value)}
			if _, err := m.Create(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			time.Sleep(31 * time.Second)
			if err := check(r); !errors.Is(err, errStale) {
				t.Errorf("%s: %v", name, err)
			}
			if !strings.Contains(log.String(), "store:") && !strings.Contains(log.String(), "revocationlist:") {
				t.Errorf("%s: the log does not say why: %s", name, log)
			}
			if err := m.Delete(t.Context(), record.Key); err != nil {
				t.Fatal(err)
			}
			time.Sleep(maxPause)
			synctest.Wait()
			if err := check(r); err != nil {
				t.Errorf("%s, when it is gone: %v", name, err)
			}
			stop()
			<-done
		})
	}
}

func TestStalenessCountsFromTheFeedsLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(nil)
		m.Fail(errDown)
		r, _, stop, done := fed(t, m)
		want := func(since time.Duration, known bool) {
			t.Helper()
			if got, ok := r.Staleness(); got != since || ok != known {
				t.Errorf("%v %v, want %v %v", got, ok, since, known)
			}
		}
		want(0, false)
		m.Fail(nil)
		time.Sleep(maxPause)
		synctest.Wait()
		want(0, true)
		time.Sleep(time.Hour)
		want(0, true)
		m.Fail(errDown)
		synctest.Wait()
		time.Sleep(7 * time.Second)
		want(7*time.Second, true)
		m.Fail(nil)
		time.Sleep(maxPause)
		synctest.Wait()
		want(0, true)
		stop()
		<-done
	})
}

func revokeAtAnotherNode(t *testing.T, s store.Backend, grant string) {
	t.Helper()
	other, err := New(Config{Store: s, MaxTokenLife: hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Revoke(t.Context(), store.Revocation{Of: store.RevokeGrant, Value: grant}); err != nil {
		t.Fatal(err)
	}
}

// followsWithinASecond revokes a grant at another node.
func followsWithinASecond(t *testing.T, l *List, s store.Backend) {
	t.Helper()
	revokeAtAnotherNode(t, s, "g")
	time.Sleep(time.Second)
	if revoked, err := l.Revoked(Token{Grant: "g"}); !revoked || err != nil {
		t.Errorf("a second after the revocation: %t, %v", revoked, err)
	}
}

// flaky fails each load while it is set, after it has delivered a few revocations.
type flaky struct {
	*storetest.Memory
	failing *atomic.Bool
}

func (f flaky) Watch(ctx context.Context, kind store.Kind, deliver func([]store.Record)) error {
	if f.failing.Load() {
		deliver(f.OfKind(kind))
		return errDown
	}
	return f.Memory.Watch(ctx, kind, deliver)
}

// A load that failed on its way has read little, and does not delay the next.
func TestRevocationHoldsWithinASecondOfFailedLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, failing := storetest.NewMemory(nil), new(atomic.Bool)
		revokeAtAnotherNode(t, m, "before")
		r, _, stop, done := fed(t, flaky{m, failing})
		failing.Store(true)
		m.Fail(errDown)
		synctest.Wait()
		m.Fail(nil)
		time.Sleep(3200 * time.Millisecond)
		failing.Store(false)
		followsWithinASecond(t, r, m)
		stop()
		<-done
	})
}

// blind delivers nothing to its first watcher, once loaded, and ends the feed after 800 ms. Each later load takes 150 ms.
type blind struct {
	*storetest.Memory
	watchers *atomic.Int32
}

func (b blind) Watch(ctx context.Context, kind store.Kind, deliver func([]store.Record)) error {
	if b.watchers.Add(1) > 1 {
		time.Sleep(150 * time.Millisecond)
		return b.Memory.Watch(ctx, kind, deliver)
	}
	deliver(nil)
	time.Sleep(800 * time.Millisecond)
	return errDown
}

// A feed that ended has used most of the second in which a revocation is to hold.
func TestRevocationHoldsWithinASecondAlthoughTheFeedEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(nil)
		r, _, stop, done := fed(t, blind{m, new(atomic.Int32)})
		followsWithinASecond(t, r, m)
		stop()
		<-done
	})
}

// late loses the answers to as many loads as lose says. Each of these fails after 200 ms.
type late struct {
	*storetest.Memory
	lose *atomic.Int32
}

func (l late) Watch(ctx context.Context, kind store.Kind, deliver func([]store.Record)) error {
	if l.lose.Add(-1) >= 0 {
		time.Sleep(200 * time.Millisecond)
		return errDown
	}
	return l.Memory.Watch(ctx, kind, deliver)
}

// When the store is back, the network may still lose an answer.
func TestRevocationHoldsWithinASecondAlthoughTwoLoadsTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, lose := storetest.NewMemory(nil), new(atomic.Int32)
		r, _, stop, done := fed(t, late{m, lose})
		lose.Store(1000)
		m.Fail(errDown)
		synctest.Wait()
		m.Fail(nil)
		time.Sleep(5 * time.Second)
		for before := lose.Load(); lose.Load() == before; {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(201 * time.Millisecond) // the last attempt before the store's return has just failed
		lose.Store(2)
		followsWithinASecond(t, r, m)
		stop()
		<-done
	})
}

// However long the store was away, what is revoked after its return is refused within a second.
func TestRevocationHoldsWithinASecondOfTheStoresReturn(t *testing.T) {
	for _, away := range []time.Duration{time.Second, 3200 * time.Millisecond, 20 * time.Second} {
		t.Run(away.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { returnAfter(t, away) })
		})
	}
}

func returnAfter(t *testing.T, away time.Duration) {
	m := storetest.NewMemory(nil)
	r, log, stop, done := fed(t, m)
	m.Fail(errDown)
	time.Sleep(away)
	m.Fail(nil)
	followsWithinASecond(t, r, m)
	if n := strings.Count(log.String(), "is lost"); n < 1 || n > 1+int(away/maxPause) {
		t.Errorf("%d warnings in %v", n, away)
	}
	stop()
	<-done
}
