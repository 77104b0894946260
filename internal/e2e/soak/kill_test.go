package soak

import (
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// E08.
func TestNothingAcknowledgedIsLostByKill(t *testing.T) {
	s := newSite(t)
	// A long grace: a refresh that was cut off is asked again after the restart.
	config := s.config("$TOKENS", "refresh_grace 5m")
	p := s.Run(t, config)
	l := new(ledger)
	const workers = 8
	for range workers {
		l.browsers = append(l.browsers, s.signIn(t))
	}
	kills := times(5, 50)
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var slowest time.Duration
	for range kills {
		loadUntilKilled(t, s, l, p, time.Duration(20+random.IntN(400))*time.Millisecond)
		checkFile(t, filepath.Join(s.Dir, "state.db"))
		begun := time.Now()
		p = s.Run(t, config)
		if _, err := s.code(l.browsers[0]); err != nil {
			t.Fatal("the first request after a restart:", err, p.Output())
		}
		slowest = max(slowest, time.Since(begun))
		l.verify(t, s)
		if t.Failed() {
			t.Fatal("after a kill:", p.Output())
		}
	}
	if slowest > 2*time.Second {
		t.Errorf("ready only %v after the start", slowest)
	}
	t.Logf("%d kills: %d codes, %d refreshes, %d revocations acknowledged and none lost; ready after %v at the latest",
		kills, l.codes, l.refreshes, l.revocations, slowest)
	p.Stop()
}

// loadUntilKilled has all workers issue and revoke until the program is killed.
func loadUntilKilled(t *testing.T, s *site, l *ledger, p *harness.Process, after time.Duration) {
	t.Helper()
	var killed atomic.Bool
	var wg sync.WaitGroup
	for _, browser := range l.browsers {
		wg.Go(func() {
			for n := 0; !killed.Load(); n++ {
				if err := l.step(s, browser, n); err != nil {
					if !killed.Load() {
						t.Error("before the kill:", err)
					}
					return
				}
			}
		})
	}
	time.Sleep(after)
	killed.Store(true)
	p.Kill()
	wg.Wait()
	s.plain.CloseIdleConnections()
}

// checkFile is what `bbolt check` does.
func checkFile(t *testing.T, path string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: 5 * time.Second, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			t.Error("bbolt check:", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
