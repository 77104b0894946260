package soak

import (
	"bytes"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Whoever has not signed in costs no memory and no disk, however often he comes
// (E11): the sign-in in progress travels in the page. Afterwards a person still signs in.
func TestAnonymousAuthorizationRequestsLeaveNothingBehind(t *testing.T) {
	collectOften(t)
	s := newSite(t)
	p := s.Run(t, s.config())
	state := filepath.Join(s.Dir, "state.db")
	s.signIn(t) // keys are made, templates parsed
	address := strings.TrimPrefix(s.ID, "http://")
	target := strings.TrimPrefix(s.authorizeURL(), s.ID)
	request := rawRequest("GET", target, address, "")
	flood(t, address, request, 5000) // the heap finds its size
	before, stored := residentMemory(t, p.PID()), readFile(t, state)

	n := times(20_000, 1_000_000)
	took := flood(t, address, request, n)
	after := residentMemory(t, p.PID())
	t.Logf("%d requests in %v: %d MiB resident before, %d MiB after", n, took.Round(time.Millisecond), before>>20, after>>20)
	if grown := after - before; grown > 64<<20 {
		t.Errorf("%d MiB more are resident", grown>>20)
	}
	if !bytes.Equal([]byte(stored), []byte(readFile(t, state))) {
		t.Error("something was written to the store")
	}
	begun := time.Now()
	b := harness.NewBrowser(t, s.ID)
	if code := b.Authorize(s.authorizeURL(), username, password).Query().Get("code"); code == "" {
		t.Fatal("a person does not get in any more")
	}
	t.Logf("a person signs in within %v", time.Since(begun).Round(time.Millisecond))
}

// flood sends n requests over some connections, each without cookies.
func flood(t *testing.T, address string, request []byte, n int) time.Duration {
	t.Helper()
	begun := time.Now()
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			if err := repeat(strings.Replace(address, "localhost", "127.0.0.1", 1), request, n/connections); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return time.Since(begun)
}
