package endurance

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

// Whoever has not signed in costs no memory and no disk, however often he comes
// (E11): the sign-in in progress travels in the page. Afterwards a person still signs in.
func TestAnonymousAuthorizationRequestsLeaveNothingBehind(t *testing.T) {
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

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Five hundred wrong passwords for one user at the same moment: no more than the limit
// are held against the password (CVE-2024-4629), the memory for hashing is bounded, and
// clients get their tokens meanwhile.
func TestFiveHundredWrongPasswordsAtOnce(t *testing.T) {
	s := newSite(t)
	p := s.Run(t, strings.Replace(s.config(), "per_address 1000", "per_address 100000", 1))
	b := harness.NewBrowser(t, s.ID)
	b.Client.Transport = s.plain.Transport
	login := b.Get(s.authorizeURL())
	action, values := harness.Form(t, login)
	s.signIn(t)
	address := strings.TrimPrefix(s.ID, "http://")
	form := "grant_type=client_credentials&scope=read"
	request := rawRequest("POST", "/token", address, form, "Authorization: Basic bWFjaGluZTptYWNoaW5lLXNlY3JldC0wMTIzNDU2Nzg5LTAxMjM0NTY3ODktMDEyMzQ1")
	quiet := paced(t, address, request, time.Duration(times(1, 10))*time.Second)
	before := residentMemory(t, p.PID())

	stop := make(chan struct{})
	peak := make(chan int64, 1)
	go func() {
		most := before
		for {
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(5 * time.Millisecond):
				most = max(most, residentMemory(t, p.PID()))
			}
		}
	}()
	var mu sync.Mutex
	statuses := map[int]int{}
	var guesses sync.WaitGroup
	ready := make(chan struct{})
	for range 500 {
		guesses.Go(func() {
			<-ready
			// A wrong password each, from one browser.
			page := b.Post(action, url.Values{"token": values["token"], "request": values["request"], "username": {username}, "password": {"wrong"}})
			mu.Lock()
			statuses[page.Status]++
			mu.Unlock()
		})
	}
	close(ready)
	busy := paced(t, address, request, 2*time.Second) // as long as sign-ins may wait
	guesses.Wait()
	close(stop)
	most := <-peak

	evaluated := 0
	for line := range strings.SplitSeq(s.Scrape(t), "\n") {
		if strings.HasPrefix(line, "caddy_gatehouse_sign_ins_total{") && strings.Contains(line, `"refused"`) {
			evaluated = int(lastNumber(t, line))
		}
	}
	t.Logf("statuses %v; %d evaluated; resident %d MiB before, %d MiB at most; /token p99 %v quiet, %v meanwhile",
		statuses, evaluated, before>>20, most>>20, quiet, busy)
	if evaluated > 10 {
		t.Errorf("%d guesses were evaluated, at most 10 may be", evaluated)
	}
	// The short form shares its processors with other tests and tells nothing about time.
	if inSoak() && busy > 2*quiet {
		t.Errorf("/token answers within %v, %.1f times as long as when it is quiet; at most 2 are accepted", busy, float64(busy)/float64(quiet))
	}
	if grown := most - before; grown > 256<<20 {
		t.Errorf("%d MiB more were resident", grown>>20)
	}
}

func lastNumber(t *testing.T, line string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
