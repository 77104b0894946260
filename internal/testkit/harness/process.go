package harness

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Child is a program that a test has started.
type Child struct {
	Cmd *exec.Cmd
	// Out is the end of what it wrote.
	Out *Output
	// Done is closed when it has ended, Err says how it exited.
	Done chan struct{}
	Err  error
}

// StartChild starts a program and keeps what it writes. It does not end it.
func StartChild(t testing.TB, cmd *exec.Cmd) *Child {
	t.Helper()
	c := &Child{Cmd: cmd, Out: new(Output), Done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = c.Out, c.Out
	FailOn(t, cmd.Start())
	go func() {
		c.Err = cmd.Wait()
		close(c.Done)
	}()
	return c
}

// Await waits until the program is ready, and fails the test if it ends before.
func (c *Child) Await(t testing.TB, limit time.Duration, ready func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ready(); {
		select {
		case <-c.Done:
			t.Fatalf("%s ended: %v\n%s", c.Cmd.Args[0], c.Err, c.Out)
		case <-time.After(2 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not ready after %v\n%s", c.Cmd.Args[0], limit, c.Out)
		}
	}
}

// Kill ends it as kill -9 does, and waits until it is gone.
func (c *Child) Kill() {
	_ = c.Cmd.Process.Kill() // it may be gone already
	<-c.Done
}

// Process is the built program, running a Caddyfile in a process of its own.
type Process struct {
	*Child
	// ready is how long it took from the start until both sites and the admin endpoint
	// took connections.
	ready time.Duration

	t testing.TB
}

// Run starts the built program with a Caddyfile and waits until it is ready. It is
// killed at the end of the test at the latest.
func (g *Gateway) Run(t testing.TB, caddyfile string) *Process {
	t.Helper()
	program := Program(t)
	args := []string{"run", "--config", g.WriteFile(t, "Caddyfile", g.Text(caddyfile)), "--adapter", "caddyfile"}
	if Proxy() != "" {
		config, err := g.Adapt(caddyfile)
		if err == nil {
			config, err = withProxy(config)
		}
		FailOn(t, err)
		args = []string{"run", "--config", g.WriteFile(t, "caddy.json", string(config))}
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = g.Dir
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+g.Dir, "XDG_CONFIG_HOME="+g.Dir)
	begun := time.Now()
	p := &Process{Child: StartChild(t, cmd), t: t}
	t.Cleanup(func() {
		p.Kill()
		g.showIfFailed(t, p.Out)
	})
	for _, address := range []string{g.Admin, g.ID, g.API} {
		p.Await(t, 20*time.Second, func() bool { return takesConnections(t, address) })
	}
	p.ready = time.Since(begun)
	p.awaitConfig(g.Admin)
	return p
}

// awaitConfig waits until the program has finished loading its configuration: it listens a
// little earlier, and commands that ask it then are told that nothing is configured. Caddy does
// not answer this request before.
func (p *Process) awaitConfig(admin string) {
	p.t.Helper()
	r, err := http.NewRequest(http.MethodGet, admin+"/config/", nil)
	FailOn(p.t, err)
	r.Close = true // an idle connection would be one more in the program
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.Out)
	}
	_ = res.Body.Close()
}

// takesConnections dials an address. It sends no request: an idle connection would be one more
// in the program.
func takesConnections(t testing.TB, address string) bool {
	t.Helper()
	u, err := url.Parse(address)
	FailOn(t, err)
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", u.Port()))
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

// PID is the process id.
func (p *Process) PID() int { return p.Cmd.Process.Pid }

// Output is the end of what the program wrote.
func (p *Process) Output() string { return p.Out.String() }

// Stop ends it as an operator does and waits for the end.
func (p *Process) Stop() {
	p.t.Helper()
	_ = p.Cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.Done:
	case <-time.After(20 * time.Second):
		p.t.Errorf("the program does not stop\n%s", p.Out)
		p.Kill()
	}
}
