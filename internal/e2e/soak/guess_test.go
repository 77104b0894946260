package soak

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Five hundred wrong passwords for one user at any moment: no more than the limit are
// held against the password (CVE-2024-4629), the memory for hashing is bounded, and
// clients get their tokens meanwhile (E14).
func TestFiveHundredWrongPasswordsAtOnce(t *testing.T) {
	collectOften(t)
	s := newSite(t)
	p := s.Run(t, strings.Replace(s.config(), "per_address 1000", "per_address 1000000", 1))
	b := harness.NewBrowser(t, s.ID)
	b.Client.Transport = s.plain.Transport
	action, values := harness.Form(t, b.Get(s.authorizeURL()))
	s.signIn(t)
	host := strings.TrimPrefix(s.ID, "http://")
	address := strings.Replace(host, "localhost", "127.0.0.1", 1)
	token := rawRequest("POST", "/token", host, "grant_type=client_credentials&scope=read",
		"Authorization: Basic bWFjaGluZTptYWNoaW5lLXNlY3JldC0wMTIzNDU2Nzg5LTAxMjM0NTY3ODktMDEyMzQ1")
	guess := rawPost(t, b, action, url.Values{"token": values["token"], "request": values["request"], "username": {username}, "password": {"wrong"}})
	client := arrivals{Address: address, Request: token, Rate: 400}
	during := func(length time.Duration) []time.Duration {
		client.begin(t)
		time.Sleep(length)
		return client.end(t)
	}
	length := time.Duration(times(2, 20)) * time.Second
	quiet := during(length)
	client.MayRefuse = !inSoak() // crowds may overload a machine that others use as well

	// What as many connections cost that come at once and want nothing.
	client.begin(t)
	crowd(t, address, rawRequest("GET", "/nothing", host, ""), 0)
	arrival := client.end(t)

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
			case <-time.After(10 * time.Millisecond):
				most = max(most, residentMemory(t, p.PID()))
			}
		}
	}()
	client.begin(t)
	if inSoak() {
		giveWay(t)
	}
	// Long enough that the moment at which all of them come is not what is measured.
	statuses := crowd(t, address, guess, 3*length)
	busy := client.end(t)
	close(stop)
	most := <-peak

	evaluated := 0
	for line := range strings.SplitSeq(s.Scrape(t), "\n") {
		if strings.HasPrefix(line, "caddy_gatehouse_sign_in_attempts_total{") && strings.Contains(line, `"refused"`) {
			evaluated = int(lastNumber(t, line))
		}
	}
	t.Logf("%d at a time, statuses %v; %d evaluated; resident: %d MiB before, %d MiB at most", crowded, statuses, evaluated, before>>20, most>>20)
	for _, percent := range []float64{50, 90, 95, 99, 99.9} {
		t.Logf("/token p%v: %v quiet, %v meanwhile", percent, answersWithin(quiet, percent), answersWithin(busy, percent))
	}
	t.Logf("of %d and %d answers; the longest %v and %v; %v while as many connections come that want nothing",
		len(quiet), len(busy), quiet[len(quiet)-1], busy[len(busy)-1], arrival[len(arrival)-1])
	if evaluated > 10 {
		t.Errorf("%d guesses were evaluated, at most 10 may be", evaluated)
	}
	// The short form shares its processors with other tests and tells nothing about time.
	was, is := answersWithin(quiet, 99), answersWithin(busy, 99)
	if inSoak() && is > 4*was {
		t.Errorf("/token answers within %v, %.1f times as long as when it is quiet; at most 4 are accepted", is, float64(is)/float64(was))
	}
	if grown := most - before; grown > 256<<20 {
		t.Errorf("%d MiB more were resident", grown>>20)
	}
}

// giveWay lets everything else on the machine run before this process, for good: who
// guesses stands for other machines, and must not take the processors of what is measured.
func giveWay(t *testing.T) {
	t.Helper()
	if err := schedule(os.Getpid(), "--idle", "0"); err != nil {
		t.Fatal(err)
	}
}

// comeFirst lets the client's process run before everything else: it stands for another
// machine, too, and what it waits for the processors of this one is not the server's delay.
func (a *arrivals) comeFirst(t *testing.T) {
	t.Helper()
	if err := schedule(a.cmd.Process.Pid, "--rr", "1"); err != nil {
		t.Log("the clock waits with what it measures; root need not:", err)
	}
}

func schedule(pid int, policy, priority string) error {
	if out, err := exec.Command("chrt", "--all-tasks", policy, "--pid", priority, strconv.Itoa(pid)).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// crowded is how many do the same at any time.
const crowded = 500

// crowd has as many senders send a request again and again, each over a connection that it
// makes when all the others do, and returns the statuses. It is lean: it shares the
// machine with what is measured.
func crowd(t *testing.T, address string, request []byte, length time.Duration) map[int]int {
	t.Helper()
	var (
		mu       sync.Mutex
		wg       sync.WaitGroup
		statuses = map[int]int{}
		ready    = make(chan struct{})
		until    = time.Now().Add(length)
	)
	for i := range crowded {
		// From many networks: one address has no more than its share of the queue.
		from := fmt.Sprintf("127.%d.0.1", 1+i%250)
		wg.Go(func() {
			<-ready
			c, err := callFrom(from, address)
			for err == nil {
				var status int
				if status, err = c.status(request); err != nil {
					break
				}
				mu.Lock()
				statuses[status]++
				mu.Unlock()
				if !time.Now().Before(until) {
					_ = c.c.Close()
					return
				}
			}
			t.Error(err)
		})
	}
	close(ready)
	wg.Wait()
	return statuses
}

// rawPost is a post of a browser's form as bytes.
func rawPost(t *testing.T, b *harness.Browser, action string, form url.Values) []byte {
	t.Helper()
	to, err := url.Parse(action)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"Origin: " + to.Scheme + "://" + to.Host}
	for _, c := range b.Client.Jar.Cookies(to) {
		lines = append(lines, "Cookie: "+c.Name+"="+c.Value)
	}
	return rawRequest("POST", to.Path, to.Host, form.Encode(), lines...)
}

// status sends a request and reads the answer to its end.
func (c *caller) status(request []byte) (int, error) {
	if err := c.c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return 0, err
	}
	if _, err := c.c.Write(request); err != nil {
		return 0, err
	}
	res, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

func lastNumber(t *testing.T, line string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
