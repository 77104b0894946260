package endurance

import (
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

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
	client := arrivals{Address: strings.Replace(address, "localhost", "127.0.0.1", 1), Request: request, Rate: 600}
	client.begin(t)
	time.Sleep(time.Duration(times(1, 5)) * time.Second)
	quiet := client.end(t)
	before := residentWithChildren(t, p.PID())

	stop := make(chan struct{})
	peak := make(chan int64, 1)
	client.begin(t)
	go func() {
		most := before
		for {
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(10 * time.Millisecond):
				most = max(most, residentWithChildren(t, p.PID()))
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
	guesses.Wait()
	busy := client.end(t) // no longer than the guesses took
	close(stop)
	most := <-peak

	evaluated := 0
	for line := range strings.SplitSeq(s.Scrape(t), "\n") {
		if strings.HasPrefix(line, "caddy_gatehouse_sign_ins_total{") && strings.Contains(line, `"refused"`) {
			evaluated = int(lastNumber(t, line))
		}
	}
	t.Logf("statuses %v; %d evaluated; resident %d MiB before, %d MiB at most, with what hashes", statuses, evaluated, before>>20, most>>20)
	for _, percent := range []float64{50, 90, 95, 98, 99, 99.5} {
		t.Logf("/token p%v: %v quiet, %v meanwhile", percent, answersWithin(quiet, percent), answersWithin(busy, percent))
	}
	t.Logf("of %d and %d answers", len(quiet), len(busy))
	if evaluated > 10 {
		t.Errorf("%d guesses were evaluated, at most 10 may be", evaluated)
	}
	// The short form shares its processors with other tests and tells nothing about time.
	was, is := answersWithin(quiet, 99), answersWithin(busy, 99)
	if inSoak() && is > 2*was {
		t.Errorf("/token answers within %v, %.1f times as long as when it is quiet; at most 2 are accepted", is, float64(is)/float64(was))
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
