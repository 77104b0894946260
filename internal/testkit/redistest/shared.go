//go:build unix

package redistest

import (
	"os"
	"sync"
	"syscall"
	"testing"
)

// shared are what the tests of a package have in common: each keeps to keys of its own.
var shared struct {
	sync.Mutex
	dirs     []string
	server   *Server
	sentinel *Sentinel
	cluster  *Cluster
}

// Shared is a server that is started once for the tests of a package, and ended by
// StopShared or with the process. No test may stop it.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		s, err := startServer(sharedDir(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		shared.server = s
	}
	return shared.server.forTest(t)
}

// SharedSentinel is StartSentinel, once for the tests of a package.
func SharedSentinel(t testing.TB) *Sentinel {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.sentinel == nil {
		s, err := beginSentinel(sharedDir(t))
		if err != nil {
			s.stopAll()
			t.Fatal(err)
		}
		shared.sentinel = s
	}
	mine := *shared.sentinel
	mine.t, mine.servers = t, serversForTest(t, mine.servers)
	return &mine
}

// SharedCluster is StartCluster, once for the tests of a package.
func SharedCluster(t testing.TB) *Cluster {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil {
		c, err := beginCluster(sharedDir(t))
		if err != nil {
			c.stopAll()
			t.Fatal(err)
		}
		shared.cluster = c
	}
	return &Cluster{Nodes: serversForTest(t, shared.cluster.Nodes), t: t}
}

// StopShared ends what was shared; for TestMain, after the tests.
func StopShared() {
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		_ = shared.server.stopWith(syscall.SIGKILL)
	}
	if shared.sentinel != nil {
		shared.sentinel.stopAll()
	}
	if shared.cluster != nil {
		shared.cluster.stopAll()
	}
	for _, dir := range shared.dirs {
		_ = os.RemoveAll(dir)
	}
	shared.server, shared.sentinel, shared.cluster, shared.dirs = nil, nil, nil, nil
}

func sharedDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gatehouse-redis")
	if err != nil {
		t.Fatal(err)
	}
	shared.dirs = append(shared.dirs, dir)
	return dir
}

// forTest is the same server, whose failures are those of a test.
func (s *Server) forTest(t testing.TB) *Server {
	return &Server{Addr: s.Addr, process: s.process, t: t, tls: s.tls}
}

func serversForTest(t testing.TB, all []*Server) []*Server {
	mine := make([]*Server, len(all))
	for i, s := range all {
		mine[i] = s.forTest(t)
	}
	return mine
}
