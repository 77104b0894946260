package admission

import "os"

// poller waits until the runtime has polled the network. The runtime does that when a processor
// is idle, and otherwise only every 10 ms, so requests to a busy process wait in their sockets. A
// poller notices a poll by reading a byte from its own pipe.
type poller struct {
	r, w *os.File
}

// openPoller opens the pipe if it is closed. Without free file descriptors it stays closed.
func (p *poller) openPoller() {
	if p.r != nil {
		return
	}
	if r, w, err := os.Pipe(); err == nil {
		p.r, p.w = r, w
	}
}

// waitForEvents returns at once if the pipe is closed.
func (p *poller) waitForEvents() {
	if p.r == nil {
		return
	}
	// Written by another goroutine, so that the read begins before there is anything to read.
	go func(w *os.File) { _, _ = w.Write([]byte{0}) }(p.w)
	_, _ = p.r.Read(make([]byte, 1))
}

func (p *poller) closePoller() {
	if p.r != nil {
		_ = p.r.Close()
		_ = p.w.Close()
		p.r, p.w = nil, nil
	}
}
