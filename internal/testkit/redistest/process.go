//go:build unix

package redistest

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// patience is how long a server may take to start, to stop, or to agree with others.
const patience = 30 * time.Second

// process is a Redis program that is running or was.
type process struct {
	program, addr string
	args          []string
	tls           *tls.Config // nil for none

	mu   sync.Mutex
	cmd  *exec.Cmd
	out  *bytes.Buffer
	done chan struct{} // closed when it is gone
}

// startProcess starts the program and waits until it answers.
func (p *process) startProcess() error {
	path, err := exec.LookPath(p.program)
	if err != nil {
		return fmt.Errorf("these tests need %[1]s, in Debian the package %[1]s", p.program)
	}
	cmd, out, done := exec.Command(path, p.args...), new(bytes.Buffer), make(chan struct{})
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = out, out, dieWithParent()
	begun := make(chan error)
	go func() {
		// The signal of dieWithParent is sent when the thread that started the process ends, so this
		// thread is kept until the process is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		begun <- err
		if err == nil {
			_ = cmd.Wait() // the output says why it ended
			close(done)
		}
	}()
	if err := <-begun; err != nil {
		return err
	}
	p.mu.Lock()
	p.cmd, p.out, p.done = cmd, out, done
	p.mu.Unlock()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		select {
		case <-done:
			return fmt.Errorf("%s ended at once: %s", p.program, outputTail(out.String()))
		default:
		}
		if isServing(p.addr, p.tls) {
			return nil
		}
		if time.Now().After(deadline) {
			p.sendSignal(syscall.SIGKILL)
			<-done
			return fmt.Errorf("%s does not answer: %s", p.program, outputTail(out.String()))
		}
	}
}

// isServing reports whether a Redis answers and has loaded its data. Asking for a password counts as an answer.
func isServing(addr string, over *tls.Config) bool {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	if over != nil {
		over = over.Clone()
		over.ServerName = "127.0.0.1"
		c = tls.Client(c, over)
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	answer := make([]byte, 64)
	n, err := c.Read(answer)
	return err == nil && (bytes.HasPrefix(answer[:n], []byte("+PONG")) || bytes.HasPrefix(answer[:n], []byte("-NOAUTH")))
}

func (p *process) sendSignal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(s) // it may be gone already
	}
}

// stopWith sends signals and waits until the program is gone. A frozen one reacts only to SIGKILL.
func (p *process) stopWith(s ...syscall.Signal) error {
	p.mu.Lock()
	done := p.done
	p.mu.Unlock()
	if done == nil {
		return nil
	}
	for _, s := range s {
		p.sendSignal(s)
	}
	select {
	case <-done:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s does not end", p.program)
	}
}

// outputTail returns the end of a program's output.
func outputTail(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}
