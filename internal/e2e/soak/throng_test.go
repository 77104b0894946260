package soak

import (
	"bytes"
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
)

const throngEnv = "GATEHOUSE_TEST_THRONG"

// throng is many clients, each with a connection and one request at a time. It is a process of
// its own with a single thread, which waits for all connections at once: goroutines would wait
// for each other, and take more of the processors that the server has to share with them.
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
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// throngMain is the main of the process.
func throngMain(config string) error {
	var c throng
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	poll, err := syscall.EpollCreate1(0)
	if err != nil {
		return err
	}
	begun := time.Now()
	all := &pollingClients{throng: c, poll: poll, from: begun.Add(c.Warm), until: begun.Add(c.Warm + c.Length), clients: make(map[int32]*throngClient)}
	for i := range c.Connections {
		// Not all in one moment.
		if err := all.connect(begun.Add(c.Warm / 4 * time.Duration(i) / time.Duration(c.Connections))); err != nil {
			return err
		}
	}
	if err := all.ask(); err != nil {
		return err
	}
	slices.Sort(all.result.Admitted)
	slices.Sort(all.result.Refused)
	return json.NewEncoder(os.Stdout).Encode(all.result)
}

// pollingClients are the clients of a throng at work.
type pollingClients struct {
	throng
	poll        int
	from, until time.Time // what is measured
	clients     map[int32]*throngClient
	due         dueClients
	asking      int // how many wait for an answer
	result      throngResult
}

type throngClient struct {
	fd    int32
	at    time.Time // of the request, or of the next one
	bytes []byte    // of the answer
}

func (c *pollingClients) connect(at time.Time) error {
	address, err := netip.ParseAddrPort(c.Address)
	if err != nil {
		return err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := syscall.Connect(fd, &syscall.SockaddrInet4{Port: int(address.Port()), Addr: address.Addr().As4()}); err != nil {
		return err
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return err
	}
	if err := syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1); err != nil {
		return err
	}
	client := &throngClient{fd: int32(fd), at: at}
	c.clients[client.fd] = client
	heap.Push(&c.due, client)
	return syscall.EpollCtl(c.poll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: client.fd})
}

// ask sends requests and reads answers until it is time, and then the answers that are due.
func (c *pollingClients) ask() error {
	events := make([]syscall.EpollEvent, 64)
	for {
		now := time.Now()
		ends := now.After(c.until)
		for !ends && len(c.due) > 0 && !c.due[0].at.After(now) {
			if err := c.send(heap.Pop(&c.due).(*throngClient)); err != nil {
				return err
			}
		}
		wait := c.until
		switch {
		case ends && c.asking == 0:
			return nil
		case ends && now.Sub(c.until) > 30*time.Second:
			return fmt.Errorf("%d requests are not answered after 30 s", c.asking)
		case ends:
			wait = now.Add(time.Second)
		case len(c.due) > 0:
			wait = c.due[0].at
		}
		n, err := syscall.EpollWait(c.poll, events, int(max(0, wait.Sub(now).Milliseconds()+1)))
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
		for _, e := range events[:max(0, n)] {
			if err := c.read(c.clients[e.Fd]); err != nil {
				return err
			}
		}
	}
}

func (c *pollingClients) send(client *throngClient) error {
	client.at, client.bytes = time.Now(), client.bytes[:0]
	c.asking++
	if n, err := syscall.Write(int(client.fd), c.Request); err != nil || n < len(c.Request) {
		return fmt.Errorf("wrote %d of %d bytes: %w", n, len(c.Request), err)
	}
	return nil
}

// read takes what has come of an answer, and what follows once it is whole.
func (c *pollingClients) read(client *throngClient) error {
	client.bytes = slices.Grow(client.bytes, 4096)
	n, err := syscall.Read(int(client.fd), client.bytes[len(client.bytes):cap(client.bytes)])
	switch {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
		return nil
	case err != nil:
		return err
	case n == 0:
		return errors.New("the server closed a connection")
	}
	client.bytes = client.bytes[:len(client.bytes)+n]
	status, retryAfter, whole, err := readAnswer(client.bytes)
	if err != nil || !whole {
		return err
	}
	now := time.Now()
	took := now.Sub(client.at)
	c.asking--
	next := now
	switch {
	case status != http.StatusOK && status != http.StatusServiceUnavailable:
		return fmt.Errorf("status %d", status)
	case client.at.Before(c.from):
	case status == http.StatusOK:
		c.result.Admitted = append(c.result.Admitted, took)
	default:
		c.result.Refused = append(c.result.Refused, took)
	}
	if c.Rate > 0 {
		next = client.at.Add(time.Duration(float64(c.Connections) / c.Rate * float64(time.Second)))
	}
	if c.Patient && retryAfter > 0 {
		next = now.Add(time.Duration(retryAfter) * time.Second)
	}
	if next.After(now) {
		client.at = next
		heap.Push(&c.due, client)
		return nil
	}
	if now.After(c.until) {
		return nil
	}
	return c.send(client)
}

// readAnswer reads what matters of an answer, and reports whether it is all there.
func readAnswer(text []byte) (status, retryAfter int, whole bool, err error) {
	head, body, ok := bytes.Cut(text, []byte("\r\n\r\n"))
	if !ok {
		return 0, 0, false, nil
	}
	if len(head) < 12 || !bytes.HasPrefix(head, []byte("HTTP/1.1 ")) {
		return 0, 0, false, fmt.Errorf("not an answer of HTTP/1.1: %q", head)
	}
	status = digits(head[9:12])
	length := -1
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte("\r\n"))
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			length = digits(value)
		case bytes.EqualFold(name, []byte("Retry-After")):
			retryAfter = digits(value)
		}
	}
	if length < 0 {
		return 0, 0, false, fmt.Errorf("status %d without Content-Length", status)
	}
	return status, retryAfter, len(body) >= length, nil
}

// digits is the number behind spaces, 0 for none.
func digits(text []byte) (n int) {
	for _, b := range bytes.TrimSpace(text) {
		if b < '0' || b > '9' {
			return 0
		}
		n = 10*n + int(b-'0')
	}
	return n
}

// dueClients are those that ask later, the next one first.
type dueClients []*throngClient

func (d dueClients) Len() int           { return len(d) }
func (d dueClients) Less(i, j int) bool { return d[i].at.Before(d[j].at) }
func (d dueClients) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *dueClients) Push(x any)        { *d = append(*d, x.(*throngClient)) }
func (d *dueClients) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}
