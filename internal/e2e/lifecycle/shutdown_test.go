package lifecycle

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// keptConnections is how many clients keep a connection and send requests on it.
const keptConnections = 16

// ends are how kept connections ended.
type ends struct {
	sync.Mutex
	closed int // after an answer that said so
	reset  []error
}

// client sends one request after the other on one connection, with pauses, until an answer
// says that it is the last, or none comes. It reads nothing in between, as many clients:
// it finds out that the server has closed the connection when it uses it again.
func (e *ends) client(t *testing.T, address, token string, served *sync.WaitGroup) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		served.Done()
		return
	}
	defer func() { _ = c.Close() }()
	from := bufio.NewReader(c)
	for n := 0; ; n++ {
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		_, err := fmt.Fprintf(c, "GET /a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", token)
		var res *http.Response
		if err == nil {
			res, err = http.ReadResponse(from, nil)
		}
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		if err == nil && res.StatusCode != http.StatusOK {
			err = fmt.Errorf("status %d", res.StatusCode)
		}
		if n == 3 {
			served.Done()
		}
		e.Lock()
		switch {
		case err != nil:
			e.reset = append(e.reset, err)
		case res.Close && n < 3:
			e.reset = append(e.reset, fmt.Errorf("closed after %d answers, before the shutdown", n+1))
		case res.Close:
			e.closed++
		}
		e.Unlock()
		if err != nil || res.Close {
			if n < 3 {
				served.Done()
			}
			return
		}
		time.Sleep(rand.N(60 * time.Millisecond)) //nolint:gosec // a pause
	}
}

// N16: a process that ends tells the clients of kept connections so, and closes none of
// them under a request.
func TestN16KeptConnectionsCloseWithoutAReset(t *testing.T) {
	for name, words := range map[string]string{
		"grace_period":                    "grace_period 10s",
		"grace_period and shutdown_delay": "grace_period 10s\n\tshutdown_delay 1s",
	} {
		t.Run("N16 "+name, func(t *testing.T) {
			g, _ := prepare(t)
			p := g.Run(t, strings.Replace(with("$MAX", "1000000"), "\tadmin $ADMIN\n", "\tadmin $ADMIN\n\t"+words+"\n", 1))
			bearer := token(t, g)
			var e ends
			var clients, served sync.WaitGroup
			served.Add(keptConnections)
			for range keptConnections {
				clients.Go(func() { e.client(t, strings.TrimPrefix(g.API, "http://"), bearer, &served) })
			}
			served.Wait()
			stop(t, p)
			clients.Wait()
			p.Stop()
			t.Logf("%d of %d kept connections were closed after an answer that said so, %d reset", e.closed, keptConnections, len(e.reset))
			// One may send its request just when the listener goes, where the machine
			// is so busy that it had no turn for a second.
			if len(e.reset) > 1 || e.closed < keptConnections-1 {
				t.Errorf("%d closed, %d reset: %v", e.closed, len(e.reset), e.reset)
			}
		})
	}
}

// N16: balancers hear at once that a node ends, while it still serves.
func TestN16StoppingNodeIsNotReadyButServes(t *testing.T) {
	g, _ := prepare(t)
	text := strings.Replace(with(), "\tadmin $ADMIN\n", "\tadmin $ADMIN\n\tgrace_period 10s\n\tshutdown_delay 3s\n", 1)
	text = strings.Replace(text, "\toauth_server\n", "\tgatehouse_health\n\toauth_server\n", 1)
	p := g.Run(t, text)
	bearer := token(t, g)
	get := func(address string) harness.Page {
		return harness.Send(t, http.DefaultClient, http.MethodGet, address, "")
	}
	for deadline := time.Now().Add(10 * time.Second); get(g.ID+"/ready").Status != http.StatusOK; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never gets ready")
		}
	}
	stop(t, p)
	begun := time.Now()
	for get(g.ID+"/ready").Status == http.StatusOK {
		if time.Since(begun) > 2*time.Second {
			t.Fatal("it is ready two seconds after SIGTERM")
		}
		time.Sleep(time.Millisecond)
	}
	expect(t, get(g.ID+"/ready"), http.StatusServiceUnavailable)
	expect(t, get(g.ID+"/live"), http.StatusOK)
	expect(t, g.Call(t, http.MethodGet, "/a", bearer), http.StatusOK)
	if inside := expect(t, get(g.Admin+"/gatehouse/ready"), http.StatusServiceUnavailable); !strings.Contains(inside.Body, `"stopping"`) {
		t.Errorf("%s", inside.Body)
	}
	for _, address := range []string{g.ID + "/live", g.ID + "/.well-known/oauth-authorization-server", g.API + "/a", g.API + "/b"} {
		res, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if !res.Close {
			t.Errorf("%s: %d without Connection: close", address, res.StatusCode)
		}
	}
	p.Stop()
}

func stop(t *testing.T, p *harness.Process) {
	t.Helper()
	if err := syscall.Kill(p.PID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}
