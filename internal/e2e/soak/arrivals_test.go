package soak

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"
)

const arrivalsEnv = "GATEHOUSE_TEST_ARRIVALS"

// arrivals is a client that sends a request every now and then, so many a second on
// average, whatever became of those before: an answer that is late does not put off the
// next question. It is a process of its own, so that nothing waits in it for another
// client of the test.
type arrivals struct {
	Address string
	Request []byte
	Rate    float64
	// MayRefuse says that an answer may be a 503, which is not measured.
	MayRefuse bool

	cmd *exec.Cmd
	in  io.Closer
	out *bufio.Reader
}

// begin starts it, and returns when the first request is about to be sent.
func (a *arrivals) begin(t *testing.T) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a.cmd = exec.Command(exe)
	a.cmd.Env = append(os.Environ(), arrivalsEnv+"=1")
	a.cmd.Stderr = os.Stderr
	in, err := a.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a.in, a.out = in, bufio.NewReaderSize(out, 1<<20)
	t.Cleanup(func() { _ = a.cmd.Process.Kill(); _ = a.cmd.Wait() })
	if err := json.NewEncoder(in).Encode(a); err != nil {
		t.Fatal(err)
	}
	if _, err := a.out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
}

// end returns how long the answers took that were no 503, in order of size.
func (a *arrivals) end(t *testing.T) []time.Duration {
	t.Helper()
	_ = a.in.Close()
	var took []time.Duration
	if err := json.NewDecoder(a.out).Decode(&took); err != nil {
		t.Fatal(err)
	}
	slices.Sort(took)
	return took
}

// answersWithin is the percentile of durations in order of size.
func answersWithin(took []time.Duration, percent float64) time.Duration {
	return took[int(float64(len(took))*percent/100)]
}

// arrive is the main of the process.
func arrive() error {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var a arrivals
	if err := json.Unmarshal(line, &a); err != nil {
		return err
	}
	idle := make(chan *caller, 256)
	for range 8 {
		c, err := call(a.Address)
		if err != nil {
			return err
		}
		if _, err := a.ask(c); err != nil {
			return err
		}
		idle <- c
	}
	stop := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in)
		close(stop)
	}()
	var (
		mu    sync.Mutex
		all   []time.Duration
		first error
		wg    sync.WaitGroup
	)
	fmt.Println("ready")
	for due := time.Now(); ; {
		due = due.Add(time.Duration(rand.ExpFloat64() / a.Rate * float64(time.Second)))
		select {
		case <-stop:
			wg.Wait()
			if first != nil {
				return first
			}
			return json.NewEncoder(os.Stdout).Encode(all)
		case <-time.After(time.Until(due)):
		}
		at := due // also when the timer was late: that is the machine's fault, too
		wg.Go(func() {
			refused, err := a.arrival(idle)
			took := time.Since(at)
			mu.Lock()
			defer mu.Unlock()
			if !refused {
				all = append(all, took)
			}
			if err != nil && first == nil {
				first = err
			}
		})
	}
}

// arrival asks over a connection that is idle, or over a new one.
func (a *arrivals) arrival(idle chan *caller) (refused bool, err error) {
	var c *caller
	select {
	case c = <-idle:
	default:
		if c, err = call(a.Address); err != nil {
			return false, err
		}
	}
	if refused, err = a.ask(c); err != nil {
		return false, errors.Join(err, c.c.Close())
	}
	select {
	case idle <- c:
		return refused, nil
	default: // a machine that was held up has more of them than are worth keeping
		return refused, c.c.Close()
	}
}

// ask sends the request and reads the answer, which must be one that is expected.
func (a *arrivals) ask(c *caller) (refused bool, err error) {
	if err := c.c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return false, err
	}
	status, err := c.answer(a.Request)
	refused = a.MayRefuse && status == http.StatusServiceUnavailable
	if err == nil && !refused && status != http.StatusOK {
		err = fmt.Errorf("expected 200, got %d", status)
	}
	return refused, err
}

// caller is a connection.
type caller struct {
	c net.Conn
	r *bufio.Reader
}

func call(address string) (*caller, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &caller{c, bufio.NewReaderSize(c, 4096)}, nil
}

// answer sends a request and reads what matters here.
func (c *caller) answer(request []byte) (status int, err error) {
	if _, err = c.c.Write(request); err != nil {
		return 0, err
	}
	res, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}
