package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// line is a connection to Redis that a test uses directly.
type line struct {
	net.Conn
	from *bufio.Reader
}

func dial(t *testing.T, addr string) *line {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &line{c, bufio.NewReader(c)}
}

// say sends a command as an array of bulk strings, as clients do.
func (l *line) say(t *testing.T, words ...string) {
	t.Helper()
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := l.Write(b); err != nil {
		t.Fatal(err)
	}
}

// hear returns the next line of the reply.
func (l *line) hear(within time.Duration) (string, error) {
	if err := l.SetReadDeadline(time.Now().Add(within)); err != nil {
		return "", err
	}
	s, err := l.from.ReadString('\n')
	return strings.TrimSpace(s), err
}

func (l *line) expect(t *testing.T, answer string) {
	t.Helper()
	if got, err := l.hear(5 * time.Second); got != answer {
		t.Fatalf("%q %v, want %q", got, err, answer)
	}
}

func TestHealthyProxyIsTransparent(t *testing.T) {
	p := NewProxy(t, Shared(t).Addr)
	l := dial(t, p.Addr)
	big := strings.Repeat("x", 300_000)
	l.say(t, "SET", "healthy", big)
	l.say(t, "STRLEN", "healthy")
	l.expect(t, "+OK")
	l.expect(t, ":300000")
	l.say(t, "GET", "healthy")
	l.expect(t, "$300000")
	if got, err := l.hear(5 * time.Second); got != big {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
}

func TestLatencyDelaysEachReplyUntilHeal(t *testing.T) {
	p := NewProxy(t, Shared(t).Addr)
	l := dial(t, p.Addr)
	l.say(t, "PING")
	l.expect(t, "+PONG")
	p.Latency(100 * time.Millisecond)
	begun := time.Now()
	for range 5 {
		l.say(t, "PING") // all at once: they wait side by side
	}
	for range 5 {
		l.expect(t, "+PONG")
	}
	if took := time.Since(begun); took < 100*time.Millisecond || took > 400*time.Millisecond {
		t.Errorf("five took %s", took)
	}
	p.Heal()
	begun = time.Now()
	l.say(t, "PING")
	l.expect(t, "+PONG")
	if took := time.Since(begun); took > 80*time.Millisecond {
		t.Errorf("healed, and still %s", took)
	}
}

func TestBlackholedProxyDelaysWhatWasSent(t *testing.T) {
	s := Shared(t)
	p := NewProxy(t, s.Addr)
	old, abandoned := dial(t, p.Addr), dial(t, p.Addr)
	for _, l := range []*line{old, abandoned} {
		l.say(t, "PING")
		l.expect(t, "+PONG")
	}
	p.Blackhole()
	fresh := dial(t, p.Addr)
	old.say(t, "SET", "late", "1")
	fresh.say(t, "PING")
	abandoned.say(t, "SET", "abandoned", "1")
	for name, l := range map[string]*line{"old": old, "new": fresh} {
		if got, err := l.hear(50 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("the %s connection: %q %v", name, got, err)
		}
	}
	_ = abandoned.Close()
	if got := s.CLI("exists", "late", "abandoned"); got != "0" {
		t.Fatalf("%s keys came through", got)
	}
	p.Heal()
	old.expect(t, "+OK")
	fresh.expect(t, "+PONG")
	awaitCondition(t, "the abandoned request is executed", func() bool { return s.CLI("exists", "abandoned") == "1" })
}

func TestBlackholeHoldsRepliesInTransit(t *testing.T) {
	p := NewProxy(t, Shared(t).Addr)
	l := dial(t, p.Addr)
	l.say(t, "BLPOP", "nothing", "0.1")
	time.Sleep(20 * time.Millisecond) // it is with the server
	p.Blackhole()
	if got, err := l.hear(200 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%q %v", got, err)
	}
	p.Heal()
	l.expect(t, "*-1")
}

func TestProxyResetsConnectionsUntilHeal(t *testing.T) {
	p := NewProxy(t, Shared(t).Addr)
	l := dial(t, p.Addr)
	l.say(t, "PING")
	l.expect(t, "+PONG")
	p.Reset()
	if got, err := l.hear(5 * time.Second); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the old one: %q %v", got, err)
	}
	c, err := net.Dial("tcp", p.Addr)
	if err == nil {
		_, err = c.Read(make([]byte, 1))
		_ = c.Close()
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a new one: %v", err)
	}
	p.Heal()
	l = dial(t, p.Addr)
	l.say(t, "PING")
	l.expect(t, "+PONG")
}

func TestProxyCutEndsConnectionsAndServesNewOnes(t *testing.T) {
	p := NewProxy(t, Shared(t).Addr)
	l := dial(t, p.Addr)
	l.say(t, "PING")
	l.expect(t, "+PONG")
	p.Cut()
	if got, err := l.hear(5 * time.Second); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%q %v", got, err)
	}
	l = dial(t, p.Addr)
	l.say(t, "PING")
	l.expect(t, "+PONG")
	awaitCondition(t, "the old one is forgotten", func() bool { return p.Conns() == 1 })
}

func TestDroppedReplyBelongsToAnExecutedRequest(t *testing.T) {
	s := Shared(t)
	p := NewProxy(t, s.Addr)
	p.DropReplies(2)
	for i := range 3 {
		l := dial(t, p.Addr)
		l.say(t, "PING") // how connections begin is not what it is about
		l.expect(t, "+PONG")
		l.say(t, "INCR", "dropped")
		got, err := l.hear(5 * time.Second)
		if want := i == 2; want != (got == ":3") || !want && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("request %d: %q %v", i, got, err)
		}
	}
	if got := s.CLI("get", "dropped"); got != "3" {
		t.Errorf("executed %s times", got)
	}
	if p.Dropped() != 0 {
		t.Errorf("%d left", p.Dropped())
	}
}

func TestProxyDropsRepliesOfNamedCommands(t *testing.T) {
	p := NewProxy(t, Shared(t).Addr)
	p.DropReplies(1, "SET")
	l := dial(t, p.Addr)
	l.say(t, "GET", "named")
	l.expect(t, "$-1")
	l.say(t, "set", "named", "1")
	if got, err := l.hear(5 * time.Second); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%q %v", got, err)
	}
}

func TestProxyDropsAllRepliesFromTheNthUntilHeal(t *testing.T) {
	s := Shared(t)
	p := NewProxy(t, s.Addr)
	p.DropRepliesFrom(2, "INCR")
	l := dial(t, p.Addr)
	l.say(t, "INCR", "from")
	l.expect(t, ":1")
	l.say(t, "GET", "from")
	l.expect(t, "$1")
	l.expect(t, "1")
	for _, request := range [][]string{{"INCR", "from"}, {"GET", "from"}, {"INCR", "from"}} {
		l.say(t, request...)
		if got, err := l.hear(5 * time.Second); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%v: %q %v", request, got, err)
		}
		l = dial(t, p.Addr)
		l.say(t, "PING")
		l.expect(t, "+PONG")
	}
	if got := s.CLI("get", "from"); got != "3" {
		t.Errorf("executed %s times", got)
	}
	p.Heal()
	l.say(t, "INCR", "from")
	l.expect(t, ":4")
}

func TestProxyClosesConnectionsWithItsServer(t *testing.T) {
	s := Start(t)
	p := NewProxy(t, s.Addr)
	l := dial(t, p.Addr)
	l.say(t, "PING")
	l.expect(t, "+PONG")
	s.Stop()
	if got, err := l.hear(5 * time.Second); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%q %v", got, err)
	}
	// The reset may come before Dial returns.
	if c, err := net.Dial("tcp", p.Addr); err == nil {
		l = &line{c, bufio.NewReader(c)}
		if got, err := l.hear(5 * time.Second); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("nobody is there, and it says %q %v", got, err)
		}
		_ = c.Close()
	} else if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("nobody is there: %v", err)
	}
	s.Restart()
	l = dial(t, p.Addr)
	l.say(t, "PING")
	l.expect(t, "+PONG")
}

// Dropped returns how many replies of DropReplies are still to be discarded.
func (p *Proxy) Dropped() (left int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault.drop
}
