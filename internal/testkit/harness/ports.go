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
// to outgoing connections.
const (
	firstPort    = 15_000
	portsEach    = 100
	portsOfTests = 32_000 - firstPort
)

var ports = struct {
	sync.Mutex
	next int
}{}

// FreePorts returns ports that nobody listens on at the moment.
func FreePorts(t testing.TB, n int) []int {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	var found []int
	for range portsEach {
		if len(found) == n {
			return found
		}
		port := firstPort + (os.Getpid()*portsEach+ports.next)%portsOfTests
		ports.next = (ports.next + 1) % portsEach
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
