//go:build unix

package redistest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/ports"
)

// masterName is the name of the primary at the sentinels.
const masterName = "gatehouse"

// Sentinel is a primary with a replica, monitored by three sentinels.
type Sentinel struct {
	t         testing.TB
	servers   []*Server
	sentinels []*process
}

// StartSentinel starts all five, and stops them when the test ends. args are further options of the
// primary and the replica.
func StartSentinel(t testing.TB, args ...string) *Sentinel {
	t.Helper()
	return newLauncher(t).startSentinels(args...)
}

func (l launcher) startSentinels(args ...string) *Sentinel {
	l.t.Helper()
	more := slices.Concat([]string{"--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"}, args)
	primary := l.startServer(nil, more...)
	replica := l.startServer(nil, append(more, replicaOf(primary)...)...)
	s := &Sentinel{t: l.t, servers: []*Server{primary, replica}}
	// Sentinels learn of replicas from the primary, which they ask every ten seconds.
	awaitCondition(l.t, "the replica has its data", func() bool { return infoLine(replica, "master_link_status") == "up" })
	for range 3 {
		s.sentinels = append(s.sentinels, l.startSentinel(primary.Addr))
	}
	awaitCondition(l.t, "the sentinels know each other", func() bool {
		for _, w := range s.sentinels {
			out, err := runCLI(w.addr, "sentinel", "master", masterName)
			fields := strings.Split(out, "\n")
			if err != nil || fieldAfter(fields, "num-slaves") != "1" || fieldAfter(fields, "num-other-sentinels") != "2" {
				return false
			}
		}
		return true
	})
	return s
}

// startSentinel starts one sentinel. A new primary is asked for the first time a second after its election. With a
// down-after time of a second or less it would count as down at once, and a second failover would follow.
func (l launcher) startSentinel(primary string) *process {
	l.t.Helper()
	port := strconv.Itoa(ports.Servers.Free(l.t, 1)[0])
	config := filepath.Join(l.dir, "sentinel-"+port+".conf")
	text := fmt.Sprintf("port %s\nbind 127.0.0.1\ndir %q\nsentinel monitor %[3]s %[4]s 2\nsentinel down-after-milliseconds %[3]s 2500\nsentinel failover-timeout %[3]s 6000\n",
		port, l.dir, masterName, strings.Replace(primary, ":", " ", 1))
	failOn(l.t, os.WriteFile(config, []byte(text), 0o600))
	p := &process{program: "redis-sentinel", addr: net.JoinHostPort("127.0.0.1", port), args: []string{config}}
	failOn(l.t, p.startProcess())
	l.keep(p)
	return p
}

// URL returns the address of the primary by way of the sentinels.
func (s *Sentinel) URL() string {
	addrs := make([]string, len(s.sentinels))
	for i, w := range s.sentinels {
		addrs[i] = w.addr
	}
	return "redis+sentinel://" + strings.Join(addrs, ",") + "/" + masterName
}

// Tell sends a command to each sentinel, and returns the answers.
func (s *Sentinel) Tell(words ...string) []string {
	s.t.Helper()
	var answers []string
	for _, w := range s.sentinels {
		out, err := runCLI(w.addr, words...)
		failOn(s.t, err)
		answers = append(answers, out)
	}
	return answers
}

// Primary returns the server that the sentinels call the primary.
func (s *Sentinel) Primary() *Server {
	s.t.Helper()
	at := s.primaryAddr(s.sentinels[0])
	for _, server := range s.servers {
		if server.Addr == at {
			return server
		}
	}
	s.t.Fatalf("the sentinels name %q as primary, which is none of the servers", at)
	return nil
}

// Replica returns the other server, whether it is running or not.
func (s *Sentinel) Replica() *Server {
	s.t.Helper()
	if s.Primary() == s.servers[0] {
		return s.servers[1]
	}
	return s.servers[0]
}

// KillPrimary kills the primary with SIGKILL, and returns it.
func (s *Sentinel) KillPrimary() *Server {
	s.t.Helper()
	p := s.Primary()
	p.Kill()
	return p
}

// WaitPromoted waits until all sentinels agree on a primary other than the given one and it accepts writes.
// It returns the new primary.
func (s *Sentinel) WaitPromoted(other *Server) *Server {
	s.t.Helper()
	awaitCondition(s.t, "another primary", func() bool {
		for _, w := range s.sentinels {
			if s.primaryAddr(w) == other.Addr {
				return false
			}
		}
		return infoLine(s.Primary(), "role") == "master"
	})
	return s.Primary()
}

// Rejoin restarts a server that was killed, as a replica of the current primary. It waits until the replica is in
// sync and the sentinels know it.
func (s *Sentinel) Rejoin(killed *Server) {
	s.t.Helper()
	killed.Kill()
	killed.args = append(withoutReplicaOf(killed.args), replicaOf(s.Primary())...)
	failOn(s.t, killed.startProcess())
	// On a busy machine the sentinels may fail over once more meanwhile. Whichever server is the primary in the
	// end, the other one becomes its replica.
	awaitCondition(s.t, "the replica is back", func() bool {
		for _, w := range s.sentinels {
			out, err := runCLI(w.addr, "sentinel", "replicas", masterName)
			fields := strings.Split(out, "\n")
			if err != nil || s.primaryAddr(w) != s.Primary().Addr || fieldAfter(fields, "flags") != "slave" || fieldAfter(fields, "master-link-status") != "ok" {
				return false
			}
		}
		return infoLine(s.Primary(), "role") == "master" && infoLine(s.Replica(), "master_link_status") == "up"
	})
}

func (s *Sentinel) primaryAddr(sentinel *process) string {
	out, err := runCLI(sentinel.addr, "sentinel", "get-master-addr-by-name", masterName)
	host, port, ok := strings.Cut(out, "\n")
	if err != nil || !ok {
		return ""
	}
	return net.JoinHostPort(host, port)
}

func replicaOf(s *Server) []string {
	host, port, _ := strings.Cut(s.Addr, ":")
	return []string{"--replicaof", host, port}
}

func withoutReplicaOf(args []string) []string {
	if i := slices.Index(args, "--replicaof"); i >= 0 {
		return slices.Concat(args[:i], args[i+3:])
	}
	return args
}

// fieldAfter returns the line after the one with the name.
func fieldAfter(lines []string, name string) string {
	if i := slices.Index(lines, name); i >= 0 && i+1 < len(lines) {
		return lines[i+1]
	}
	return ""
}

// infoLine returns a field of INFO, or "" if the server does not answer.
func infoLine(s *Server, name string) string {
	out, err := runCLI(s.Addr, "info")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(out) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// awaitCondition polls until a condition holds.
func awaitCondition(t testing.TB, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !so(); time.Sleep(25 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %s it is still not so that %s", patience, what)
		}
	}
}
