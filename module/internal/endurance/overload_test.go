package endurance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const throngEnv = "GATEHOUSE_TEST_THRONG"

// throng is many clients, each with a connection and one request at a time. It is a process
// of its own.
type throng struct {
	Address     string
	Request     []byte
	Connections int
	// Rate is how many requests all of them send together in a second; 0 for as many as are answered.
	Rate float64
	// Patient clients wait as long as Retry-After says, the others go on at once.
	Patient bool
	// Warm is for how long nothing is measured.
	Warm, Length time.Duration
}

// throngResult is what the clients saw.
type throngResult struct {
	Admitted, Refused []time.Duration // in order of size
	Error             string          // the first
	length            time.Duration
}

func (r throngResult) String() string {
	at := func(all []time.Duration, percent float64) time.Duration {
		if len(all) == 0 {
			return 0
		}
		return answersWithin(all, percent).Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("%6.0f/s admitted, p50 %8v, p99 %8v; %6.0f/s refused, p50 %8v, p99 %8v", r.rate(),
		at(r.Admitted, 50), at(r.Admitted, 99), float64(len(r.Refused))/r.length.Seconds(), at(r.Refused, 50), at(r.Refused, 99))
}

// rate is how many were admitted a second.
func (r throngResult) rate() float64 { return float64(len(r.Admitted)) / r.length.Seconds() }

// run sends the clients and waits for them.
func (c throng) run(t *testing.T) throngResult {
	t.Helper()
	return c.start(t)()
}

// start sends the clients and returns what waits for them.
func (c throng) start(t *testing.T) func() throngResult {
	t.Helper()
	config, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := exec.Command(exe)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), throngEnv+"="+string(config)), &out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() throngResult {
		t.Helper()
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		r := throngResult{length: c.Length}
		if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Error != "" {
			t.Fatal(err, r.Error)
		}
		return r
	}
}

// throngMain is the main of the process.
func throngMain(config string) error {
	// One processor is enough for clients that do little, and leaves the other to the server.
	runtime.GOMAXPROCS(1)
	var c throng
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	var (
		mu    sync.Mutex
		all   throngResult
		wg    sync.WaitGroup
		begun = time.Now()
	)
	for i := range c.Connections {
		wg.Go(func() {
			time.Sleep(c.Warm / 4 * time.Duration(i) / time.Duration(c.Connections)) // not all in one moment
			admitted, refused, err := c.client(begun.Add(c.Warm), begun.Add(c.Warm+c.Length))
			mu.Lock()
			defer mu.Unlock()
			all.Admitted, all.Refused = append(all.Admitted, admitted...), append(all.Refused, refused...)
			if err != nil && all.Error == "" {
				all.Error = err.Error()
			}
		})
	}
	wg.Wait()
	slices.Sort(all.Admitted)
	slices.Sort(all.Refused)
	return json.NewEncoder(os.Stdout).Encode(all)
}

// client asks until it is time, and returns how long the answers took that it asked for
// after from.
func (c throng) client(from, until time.Time) (admitted, refused []time.Duration, err error) {
	conn, err := call(c.Address)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = conn.c.Close() }()
	conn.r = bufio.NewReaderSize(conn.c, 2048)
	if err := conn.c.SetDeadline(until.Add(30 * time.Second)); err != nil {
		return nil, nil, err
	}
	for time.Now().Before(until) {
		at := time.Now()
		status, retryAfter, err := conn.answer(c.Request)
		if err != nil {
			return admitted, refused, err
		}
		took := time.Since(at)
		switch {
		case status != http.StatusOK && status != http.StatusServiceUnavailable:
			return admitted, refused, fmt.Errorf("status %d", status)
		case at.Before(from):
		case status == http.StatusOK:
			admitted = append(admitted, took)
		default:
			refused = append(refused, took)
		}
		if c.Patient && retryAfter > 0 {
			time.Sleep(min(time.Duration(retryAfter)*time.Second, time.Until(until)))
		}
		if c.Rate > 0 {
			time.Sleep(time.Until(at.Add(time.Duration(float64(c.Connections) / c.Rate * float64(time.Second)))))
		}
	}
	return admitted, refused, nil
}

// answer sends a request and reads what matters here. It parses no more than that, and
// allocates nothing: the clients share the processors of this machine with the server.
func (c *caller) answer(request []byte) (status, retryAfter int, err error) {
	if _, err = c.c.Write(request); err != nil {
		return 0, 0, err
	}
	length := -1
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return 0, 0, err
		}
		line = bytes.TrimSuffix(line, []byte("\r\n"))
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case status == 0:
			if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
				return 0, 0, fmt.Errorf("not an answer of HTTP/1.1: %q", line)
			}
			status = digits(line[9:12])
		case bytes.EqualFold(name, []byte("Content-Length")):
			length = digits(value)
		case bytes.EqualFold(name, []byte("Retry-After")):
			retryAfter = digits(value)
		}
	}
	if length < 0 {
		return 0, 0, fmt.Errorf("status %d without Content-Length", status)
	}
	_, err = c.r.Discard(length)
	return status, retryAfter, err
}

// digits reads digits behind spaces, 0 for none.
func digits(text []byte) (n int) {
	for _, b := range bytes.TrimSpace(text) {
		if b < '0' || b > '9' {
			return 0
		}
		n = 10*n + int(b-'0')
	}
	return n
}

// Thousands of connections at /token, far more than can be answered in time: as much is
// answered as ever, those that are answered do not wait, the others are refused at once,
// and guards go on with the tokens they know (N10).
func TestOverloadIsRefused(t *testing.T) { // N10
	s := newSite(t)
	p := s.Run(t, s.config())
	host := strings.TrimPrefix(s.ID, "http://")
	api := strings.TrimPrefix(s.API, "http://")
	local := func(address string) string { return strings.Replace(address, "localhost", "127.0.0.1", 1) }
	access := s.grant(t, s.signIn(t)).access
	token := throng{
		Address: local(host), Warm: time.Duration(times(500, 1000)) * time.Millisecond, Length: time.Duration(times(1, 4)) * time.Second,
		Request: rawRequest("POST", "/token", host, "grant_type=client_credentials&scope=read",
			"Authorization: Basic bWFjaGluZTptYWNoaW5lLXNlY3JldC0wMTIzNDU2Nzg5LTAxMjM0NTY3ODktMDEyMzQ1"),
	}
	var best float64
	for _, n := range []int{16, 32, 64, 128, 256} {
		token.Connections = n
		r := token.run(t)
		best = max(best, r.rate())
		t.Logf("%4d connections: %v", n, r)
		if !inSoak() {
			break
		}
	}
	// How long an answer takes is asked by a client of its own, whose delays are the server's:
	// a throng waits for the processors of this machine itself.
	single := arrivals{Address: token.Address, Request: token.Request, Rate: 200, MayRefuse: true}
	// It asks as long as what the throng sees is measured.
	asked := func() (throngResult, []time.Duration) {
		all := token.start(t)
		time.Sleep(token.Warm)
		single.begin(t)
		if inSoak() {
			single.comeFirst(t)
		}
		return all(), single.end(t)
	}
	token.Connections, token.Rate = 16, best/4
	r, quiet := asked()
	t.Logf("a quarter of that:  %v; a single client's p99 %v", r, answersWithin(quiet, 99))
	token.Rate = 0

	token.Connections, token.Warm, token.Length = times(400, 2000), 3*time.Second, time.Duration(times(2, 8))*time.Second
	client := arrivals{Address: local(api), Rate: 100, Request: rawRequest("GET", "/read/1", api, "", "Authorization: Bearer "+access)}
	for _, patient := range []bool{true, false} {
		token.Patient = patient
		memory := residentMemory(t, p.PID())
		client.begin(t) // and fails unless every answer is a 200
		r, single := asked()
		guarded := client.end(t)
		t.Logf("%4d connections that wait after a refusal: %v: %v", token.Connections, patient, r)
		t.Logf("  meanwhile %d requests with a known token, none refused, p99 %v; resident %d MiB before, %d MiB after",
			len(guarded), answersWithin(guarded, 99), memory>>20, residentMemory(t, p.PID())>>20)
		t.Logf("  %d answers to a single client, p50 %v, p99 %v", len(single), answersWithin(single, 50), answersWithin(single, 99))
		if len(r.Refused) == 0 || len(r.Admitted) == 0 {
			t.Fatal("not both admitted and refused")
		}
		// The short form shares its processors with other tests and tells little about time.
		is, was := answersWithin(single, 99), answersWithin(quiet, 99)
		if !inSoak() {
			if is > time.Second {
				t.Errorf("answered requests wait for %v", is)
			}
			continue
		}
		if r.rate() < best*8/10 || is > 4*was {
			t.Errorf("%.0f/s of %.0f/s, p99 %v for %v when it is quiet", r.rate(), best, is, was)
		}
	}
}
