//go:build unix

package redistest

import (
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
)

// Test processes run side by side, and between finding a port and listening on it others
// may take it. So each process has a hundred ports of its own, below those of the
// gateways under test and of outgoing connections.
const (
	firstPort    = 5_000
	portsEach    = 100
	portsOfTests = 15_000 - firstPort
)

var ports = struct {
	sync.Mutex
	next int
}{}

// freePorts returns ports that nobody listens on at the moment.
func freePorts(t testing.TB, n int) []int {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	var found []int
	for range portsEach {
		port := firstPort + (os.Getpid()*portsEach+ports.next)%portsOfTests
		ports.next = (ports.next + 1) % portsEach
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			continue
		}
		failOn(t, l.Close())
		if found = append(found, port); len(found) == n {
			return found
		}
	}
	t.Fatalf("no %d free ports", n)
	return nil
}
