//go:build unix

package redistest

import (
	"os"
	"sync"
	"syscall"
	"testing"
)

// shared are the servers that all tests of a package use. Each test uses keys of its own.
var shared struct {
	sync.Mutex
	dirs     []string
	running  []*process
	server   *Server
	sentinel *Sentinel
	cluster  *Cluster
}

// Shared returns a server that is started once for all tests of a package. StopShared stops it, or the end of the
// process. No test may stop it.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		shared.server = sharedLauncher(t).startServer(nil)
	}
	return shared.server.forTest(t)
}

// SharedSentinel is StartSentinel, once for all tests of a package.
func SharedSentinel(t testing.TB) *Sentinel {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.sentinel == nil {
		shared.sentinel = sharedLauncher(t).startSentinels()
	}
	return &Sentinel{t: t, servers: serversForTest(t, shared.sentinel.servers), sentinels: shared.sentinel.sentinels}
}

// SharedCluster is StartCluster, once for all tests of a package.
func SharedCluster(t testing.TB) *Cluster {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil {
		shared.cluster = sharedLauncher(t).startCluster(2 * clusterPrimaries)
	}
	return &Cluster{Nodes: serversForTest(t, shared.cluster.Nodes), t: t}
}

// StopShared stops the shared servers. TestMain calls it after the tests.
func StopShared() {
	shared.Lock()
	defer shared.Unlock()
	for _, p := range shared.running {
		_ = p.stopWith(syscall.SIGKILL)
	}
	for _, dir := range shared.dirs {
		_ = os.RemoveAll(dir)
	}
	shared.server, shared.sentinel, shared.cluster, shared.dirs, shared.running = nil, nil, nil, nil, nil
}

// sharedLauncher returns a launcher whose programs run until StopShared. The caller holds the lock.
func sharedLauncher(t testing.TB) launcher {
	t.Helper()
	dir, err := os.MkdirTemp("", "gatehouse-redis")
	failOn(t, err)
	shared.dirs = append(shared.dirs, dir)
	return launcher{t, dir, func(p *process) { shared.running = append(shared.running, p) }}
}

// forTest returns the same server with its failures reported to a test.
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
