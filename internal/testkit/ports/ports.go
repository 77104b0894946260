// Package ports finds ports for the programs that tests start.
package ports

import (
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
)

// Both ranges are below the ports that Linux gives to outgoing connections.
var (
	Servers  = &Range{first: 5_000, end: 15_000}  // for what gateways depend on
	Gateways = &Range{first: 15_000, end: 32_000} // for gateways
)

// Range is a range of ports. Test processes run side by side, and between finding a port and
// listening on it others may take it. So each process has a hundred ports of its own. It
// listens on the first of them as long as it runs, which keeps the others of its hundred from
// every other process.
type Range struct {
	first, end int

	mu   sync.Mutex
	kept net.Listener // on the first of this process's ports
	next int
}

const each = 100 // ports of a process

// Free returns ports that nobody listens on at the moment.
func (r *Range) Free(t testing.TB, n int) []int {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.keep(t)
	var found []int
	for range each {
		if len(found) == n {
			return found
		}
		port := first + 1 + r.next
		r.next = (r.next + 1) % (each - 1)
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		found = append(found, port)
	}
	t.Fatalf("no %d free ports", n)
	return nil
}

// keep finds a hundred ports that no other process has, once in a process.
func (r *Range) keep(t testing.TB) (first int) {
	t.Helper()
	width := r.end - r.first
	for i := range width / each {
		if r.kept != nil {
			break
		}
		// An error means that another process has these.
		r.kept, _ = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", r.first+(os.Getpid()+i)*each%width))
	}
	if r.kept == nil {
		t.Fatal("other processes have all ports of tests")
	}
	return r.kept.Addr().(*net.TCPAddr).Port
}
