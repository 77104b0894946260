package harness

import (
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
)

// Test processes run side by side, and between finding a port and listening on it others
// may take it. So each process has a hundred ports of its own, below those that Linux gives
// to outgoing connections. It listens on the first of them as long as it runs, which keeps
// the others of its hundred from every other process.
const (
	firstPort    = 15_000
	portsEach    = 100
	portsOfTests = 32_000 - firstPort
)

var ports = struct {
	sync.Mutex
	kept net.Listener // on the first of this process's ports
	next int
}{}

// keepPorts finds a hundred ports that no other process has, once in a process.
func keepPorts(t testing.TB) (first int) {
	t.Helper()
	for i := range portsOfTests / portsEach {
		if ports.kept != nil {
			break
		}
		// An error means that another process has these.
		ports.kept, _ = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", firstPort+(os.Getpid()+i)*portsEach%portsOfTests))
	}
	if ports.kept == nil {
		t.Fatal("other processes have all ports of tests")
	}
	return ports.kept.Addr().(*net.TCPAddr).Port
}

// FreePorts returns ports that nobody listens on at the moment.
func FreePorts(t testing.TB, n int) []int {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	first := keepPorts(t)
	var found []int
	for range portsEach {
		if len(found) == n {
			return found
		}
		port := first + 1 + ports.next
		ports.next = (ports.next + 1) % (portsEach - 1)
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			continue
		}
		FailOn(t, l.Close())
		found = append(found, port)
	}
	t.Fatalf("no %d free ports", n)
	return nil
}
