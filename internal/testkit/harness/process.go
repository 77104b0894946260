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

// Process is the built program, running a Caddyfile in a process of its own.
type Process struct {
	// Ready is how long it took from the start until both sites and the admin endpoint
	// took connections.
	Ready time.Duration

	t    testing.TB
	cmd  *exec.Cmd
	out  *Output
	done chan struct{}
	err  error // of the exit; after done
}

// Run starts the built program with a Caddyfile and waits until it is ready. It is
// killed at the end of the test at the latest.
func (g *Gateway) Run(t testing.TB, caddyfile string) *Process {
	t.Helper()
	program := Program(t)
	file := g.WriteFile(t, "Caddyfile", g.Text(caddyfile))
	cmd := exec.Command(program, "run", "--config", file, "--adapter", "caddyfile")
	cmd.Dir = g.Dir
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+g.Dir, "XDG_CONFIG_HOME="+g.Dir)
	p := &Process{t: t, cmd: cmd, out: new(Output), done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out, p.out
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.Kill()
		g.showIfFailed(t, p.out)
	})
	for _, address := range []string{g.Admin, g.ID, g.API} {
		p.awaitAddress(address)
	}
	p.Ready = time.Since(begun)
	p.awaitConfig(g.Admin)
	return p
}

// awaitConfig waits until the program has finished loading its configuration: it listens a
// little earlier, and commands that ask it then are told that nothing is configured. Caddy does
// not answer this request before.
func (p *Process) awaitConfig(admin string) {
	p.t.Helper()
	r, err := http.NewRequest(http.MethodGet, admin+"/config/", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Close = true // an idle connection would be one more in the program
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.out)
	}
	_ = res.Body.Close()
}

// awaitAddress dials until the address answers. It does not speak HTTP: an idle connection
// would be one more in the program.
func (p *Process) awaitAddress(address string) {
	p.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		p.t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", u.Port()))
		if err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-p.done:
			p.t.Fatalf("the program ended: %v\n%s", p.err, p.out)
		case <-time.After(2 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s does not answer: %v\n%s", address, err, p.out)
		}
	}
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Output is the end of what the program wrote.
func (p *Process) Output() string { return p.out.String() }

// Kill ends it as kill -9 does, and waits until it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.done
}

// Stop ends it as an operator does and waits for the end.
func (p *Process) Stop() {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(20 * time.Second):
		p.t.Errorf("the program does not stop\n%s", p.out)
		p.Kill()
	}
}
