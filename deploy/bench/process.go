package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	startPatience = 2 * time.Minute
	stopPatience  = 10 * time.Second
)

// process is a program that was started.
type process struct {
	name string
	cmd  *exec.Cmd
	out  output
	done chan struct{} // closed when it has ended
}

// startProcess starts a program and waits until it listens on all addresses.
func startProcess(name string, cmd *exec.Cmd, addresses ...string) (*process, error) {
	p := &process{name: name, cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = &p.out, &p.out, endWithParent()
	begun := make(chan error)
	go func() {
		// The kernel ends a child with the thread that started it, so this one must stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		begun <- err
		if err == nil {
			_ = cmd.Wait() // its output says why it ended
			close(p.done)
		}
	}()
	if err := <-begun; err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	deadline := time.Now().Add(startPatience)
	for _, address := range addresses {
		for !listens(address) {
			select {
			case <-p.done:
				return nil, fmt.Errorf("%s has ended: %s", name, p.out.String())
			case <-time.After(10 * time.Millisecond):
			}
			if time.Now().After(deadline) {
				p.stop()
				return nil, fmt.Errorf("%s does not listen on %s: %s", name, address, p.out.String())
			}
		}
	}
	return p, nil
}

func listens(address string) bool {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// stop ends it and waits.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
	select {
	case <-p.done:
	case <-time.After(stopPatience):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// output keeps the end of what a program writes.
type output struct {
	mu  sync.Mutex
	end []byte
}

const outputLimit = 4096

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end = append(o.end, p...)
	o.end = o.end[max(0, len(o.end)-outputLimit):]
	return len(p), nil
}

// String is what was kept.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(bytes.TrimSpace(o.end))
}

// findProgram looks for a program, also where only root's PATH does.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	path = filepath.Join("/usr/sbin", name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is not installed", name)
	}
	return path, nil
}
