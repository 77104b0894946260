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

// Child is a program started by a test.
type Child struct {
	Cmd *exec.Cmd
	// Out is the end of its output.
	Out *Output
	// Done is closed when the program has exited. Err is then its exit status.
	Done chan struct{}
	Err  error
}

// StartChild starts a program and keeps the end of its output. The caller stops it.
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

// Await waits until the program is ready, and fails the test if it exits first.
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

// Kill kills the program with SIGKILL and waits until it is gone.
func (c *Child) Kill() {
	_ = c.Cmd.Process.Kill() // it may be gone already
	<-c.Done
}

// Process is the built program running a Caddyfile.
type Process struct {
	*Child
	// ready is the time from the start until both sites and the admin endpoint accepted connections.
	ready time.Duration

	t testing.TB
}

// Run starts the built program with a Caddyfile and waits until it is ready. It is killed when the test ends.
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

// awaitConfig waits until the program has loaded its configuration. Caddy listens a little earlier, but answers this
// request only then; until then commands would find nothing configured.
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

// takesConnections reports whether an address accepts connections. It sends no request, which would leave an idle
// connection in the program.
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

// PID returns the process ID.
func (p *Process) PID() int { return p.Cmd.Process.Pid }

// Output returns the end of the program's output.
func (p *Process) Output() string { return p.Out.String() }

// Stop interrupts the program as an operator would and waits until it is gone.
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
