package example

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// stopWithin is longer than Caddy takes to shut down without requests in flight.
const stopWithin = 20 * time.Second

// Start copies an example and runs it until the test ends.
func Start(t testing.TB, name string, commands ...string) *Example {
	t.Helper()
	e := Copy(t, name, commands...)
	e.Start(t)
	return e
}

func (e *Example) runCommand(ctx context.Context, programs ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(e.Dir, "run.sh"), programs...)
	cmd.Env, cmd.WaitDelay = e.Env, time.Second // a program that outlives run.sh holds the pipe
	return cmd
}

// Start runs run.sh and waits until it reports that everything is running. It is stopped when the test ends.
func (e *Example) Start(t testing.TB) {
	t.Helper()
	e.running = harness.StartChild(t, e.runCommand(context.Background(), e.programs...))
	e.Out = e.running.Out
	t.Cleanup(func() {
		e.Stop(t)
		if t.Failed() {
			logs, _ := exec.Command("sh", "-c", `tail -n 20 "$0"/state/*.log`, e.Dir).CombinedOutput()
			t.Logf("run.sh wrote:\n%s\nThe logs end:\n%s", e.Out, logs)
		}
	})
	e.running.Await(t, time.Minute, func() bool { return strings.Contains(e.Out.String(), "Stop with Ctrl-C") })
}

// Stop stops run.sh as a service manager would, and checks that nothing keeps running.
func (e *Example) Stop(t testing.TB) {
	t.Helper()
	select {
	case <-e.running.Done:
		return
	default:
	}
	_ = e.running.Cmd.Process.Signal(syscall.SIGTERM)
	if err := e.End(t); err != nil {
		t.Errorf("run.sh at SIGTERM: %v\n%s", err, e.Out)
	}
}

// End waits until run.sh has ended, which it must soon and with all that it started, and
// returns what its exit said.
func (e *Example) End(t testing.TB) error {
	t.Helper()
	select {
	case <-e.running.Done:
	case <-time.After(stopWithin):
		e.running.Kill()
		t.Errorf("run.sh does not stop\n%s", e.Out)
	}
	e.nothingListens(t)
	return e.running.Err
}

func (e *Example) nothingListens(t testing.TB) {
	t.Helper()
	for _, addr := range e.addrs {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			t.Errorf("%s is still listened on after run.sh has ended", addr)
		}
	}
}

// RefusesTakenPorts checks that run.sh names a port that is in use, whichever it is, and
// starts nothing.
func (e *Example) RefusesTakenPorts(t testing.TB) {
	t.Helper()
	for _, addr := range e.addrs {
		l, err := net.Listen("tcp", addr)
		harness.FailOn(t, err)
		_, port, _ := net.SplitHostPort(addr)
		e.wantFailure(t, "port "+port+" is in use", slices.Repeat([]string{"/bin/false"}, len(e.programs))...)
		_ = l.Close()
	}
}

// EndsWithEachProgram checks that run.sh ends, and with it everything, when one of its
// programs does: each of them in turn.
func (e *Example) EndsWithEachProgram(t testing.TB) {
	t.Helper()
	for i := range e.programs {
		programs := slices.Clone(e.programs)
		programs[i] = "/bin/false"
		e.wantFailure(t, "run.sh: ", programs...)
		e.nothingListens(t)
	}
}

func (e *Example) wantFailure(t testing.TB, want string, programs ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	begun := time.Now()
	out, err := e.runCommand(ctx, programs...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), want) {
		t.Errorf("%q: %v: %s", programs, err, out)
	}
	if took := time.Since(begun); took > stopWithin {
		t.Errorf("%q: it took %v to notice", programs, took)
	}
}
