package admission

import "os"

// poller waits until the runtime has polled the network. The runtime does that when a
// processor has nothing left to run, and otherwise only every 10 ms: as long as there is
// always a goroutine that can run, requests wait in their sockets. A poller is told of a
// poll by the byte that it reads from a pipe of its own.
type poller struct {
	r, w *os.File
}

// openPoller does nothing when it is open already. Without free file descriptors it stays closed.
func (p *poller) openPoller() {
	if p.r != nil {
		return
	}
	if r, w, err := os.Pipe(); err == nil {
		p.r, p.w = r, w
	}
}

// waitForEvents returns at once when it is closed.
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
