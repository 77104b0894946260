package admission

import (
	"net"
	"runtime"
	"sync/atomic"
	"testing"
)

// A goroutine that can always run keeps the only processor from polling the network.
func TestPollerWaitsForANetworkPoll(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	var received, done atomic.Int64
	go func() {
		for b := make([]byte, 1); ; received.Add(1) {
			if _, err := server.Read(b); err != nil {
				return
			}
		}
	}()
	go func() {
		for done.Load() == 0 {
			runtime.Gosched()
		}
	}()
	defer done.Store(1)

	var p poller
	p.waitForEvents() // closed, it returns
	p.openPoller()
	defer p.closePoller()
	const n = 50
	seen := 0
	for i := range n {
		if _, err := client.Write([]byte{0}); err != nil {
			t.Fatal(err)
		}
		p.waitForEvents()
		runtime.Gosched()
		if received.Load() == int64(i+1) {
			seen++
		}
		for received.Load() <= int64(i) {
			runtime.Gosched()
		}
	}
	if seen < n/2 {
		t.Errorf("after %d of %d waits a byte that was there before had not been received", n-seen, n)
	}
}

func TestPollerCanBeReopened(t *testing.T) {
	var p poller
	for range 3 {
		p.openPoller()
		p.openPoller()
		p.waitForEvents()
		p.closePoller()
		p.closePoller()
	}
}
