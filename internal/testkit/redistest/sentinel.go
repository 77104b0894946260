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
	"syscall"
	"testing"
	"time"
)

// masterName is what the sentinels call the primary.
const masterName = "gatehouse"

// Sentinel is a primary with a replica, and three sentinels that watch them.
type Sentinel struct {
	t         testing.TB
	servers   []*Server
	sentinels []*process
}

// StartSentinel starts the five, and ends them with the test. args are more options of
// the primary and the replica.
func StartSentinel(t testing.TB, args ...string) *Sentinel {
	t.Helper()
	s, err := beginSentinel(t.TempDir(), args...)
	s.t = t
	t.Cleanup(s.stopAll)
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range s.servers {
		server.t = t
	}
	return s
}

// beginSentinel returns what it started, also with an error.
func beginSentinel(dir string, args ...string) (*Sentinel, error) {
	s := new(Sentinel)
	for range 2 {
		more := slices.Concat([]string{"--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"}, args)
		if len(s.servers) > 0 {
			more = append(more, replicaOf(s.servers[0])...)
		}
		server, err := startServer(dir, nil, more...)
		if err != nil {
			return s, err
		}
		s.servers = append(s.servers, server)
	}
	// Sentinels find replicas when they ask the primary, which they do every ten seconds.
	if err := awaitCondition("the replica has its data", func() bool {
		return infoLine(s.servers[1], "master_link_status") == "up"
	}); err != nil {
		return s, err
	}
	for range 3 {
		watching, err := startSentinel(dir, s.servers[0].Addr)
		if err != nil {
			return s, err
		}
		s.sentinels = append(s.sentinels, watching)
	}
	return s, awaitCondition("the sentinels know each other", func() bool {
		for _, w := range s.sentinels {
			out, err := runCLI(w.addr, "sentinel", "master", masterName)
			fields := strings.Split(out, "\n")
			if err != nil || fieldAfter(fields, "num-slaves") != "1" || fieldAfter(fields, "num-other-sentinels") != "2" {
				return false
			}
		}
		return true
	})
}

// startSentinel starts one sentinel. Sentinels ask a new primary for the first time a second after
// they have named it: one that is to be down after no more than that is down at once, and
// the failover is followed by another one.
func startSentinel(dir, primary string) (*process, error) {
	found, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	port := strconv.Itoa(found[0])
	config := filepath.Join(dir, "sentinel-"+port+".conf")
	text := fmt.Sprintf("port %s\nbind 127.0.0.1\ndir %q\nsentinel monitor %[3]s %[4]s 2\nsentinel down-after-milliseconds %[3]s 2500\nsentinel failover-timeout %[3]s 6000\n",
		port, dir, masterName, strings.Replace(primary, ":", " ", 1))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	p := &process{program: "redis-sentinel", addr: net.JoinHostPort("127.0.0.1", port), args: []string{config}}
	return p, p.startProcess()
}

// URL names the sentinels and what they call the primary.
func (s *Sentinel) URL() string {
	addrs := make([]string, len(s.sentinels))
	for i, w := range s.sentinels {
		addrs[i] = w.addr
	}
	return "redis+sentinel://" + strings.Join(addrs, ",") + "/" + masterName
}

// Tell says the same to each sentinel, and returns their answers.
func (s *Sentinel) Tell(words ...string) []string {
	s.t.Helper()
	var answers []string
	for _, w := range s.sentinels {
		out, err := runCLI(w.addr, words...)
		if err != nil {
			s.t.Fatal(err)
		}
		answers = append(answers, out)
	}
	return answers
}

// Primary is what the sentinels say is the primary.
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

// Replica is the other server, whether it runs or not.
func (s *Sentinel) Replica() *Server {
	s.t.Helper()
	if s.Primary() == s.servers[0] {
		return s.servers[1]
	}
	return s.servers[0]
}

// KillPrimary ends the primary as kill -9 does, and returns it.
func (s *Sentinel) KillPrimary() *Server {
	s.t.Helper()
	p := s.Primary()
	p.Kill()
	return p
}

// WaitPromoted waits until all sentinels name a primary other than the one given, which
// takes writes, and returns it.
func (s *Sentinel) WaitPromoted(other *Server) *Server {
	s.t.Helper()
	err := awaitCondition("another primary", func() bool {
		for _, w := range s.sentinels {
			if s.primaryAddr(w) == other.Addr {
				return false
			}
		}
		return infoLine(s.Primary(), "role") == "master"
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.Primary()
}

// Rejoin starts a server that was killed again, as a replica of the present primary, and
// waits until there are a primary and a replica with its data, and the sentinels know it.
func (s *Sentinel) Rejoin(killed *Server) {
	s.t.Helper()
	killed.Kill()
	killed.args = append(withoutReplicaOf(killed.args), replicaOf(s.Primary())...)
	if err := killed.startProcess(); err != nil {
		s.t.Fatal(err)
	}
	// On a busy machine the sentinels may change their minds meanwhile: whichever is the
	// primary in the end, the other one is its replica.
	err := awaitCondition("the replica is back", func() bool {
		for _, w := range s.sentinels {
			out, err := runCLI(w.addr, "sentinel", "replicas", masterName)
			fields := strings.Split(out, "\n")
			if err != nil || s.primaryAddr(w) != s.Primary().Addr || fieldAfter(fields, "flags") != "slave" || fieldAfter(fields, "master-link-status") != "ok" {
				return false
			}
		}
		return infoLine(s.Primary(), "role") == "master" && infoLine(s.Replica(), "master_link_status") == "up"
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *Sentinel) primaryAddr(sentinel *process) string {
	out, err := runCLI(sentinel.addr, "sentinel", "get-master-addr-by-name", masterName)
	host, port, ok := strings.Cut(out, "\n")
	if err != nil || !ok {
		return ""
	}
	return net.JoinHostPort(host, port)
}

func (s *Sentinel) stopAll() {
	for _, w := range s.sentinels {
		_ = w.stopWith(syscall.SIGKILL)
	}
	for _, server := range s.servers {
		_ = server.stopWith(syscall.SIGKILL)
	}
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

// fieldAfter is the line after the one that names it.
func fieldAfter(lines []string, name string) string {
	if i := slices.Index(lines, name); i >= 0 && i+1 < len(lines) {
		return lines[i+1]
	}
	return ""
}

// infoLine is one line of what a server says of itself, "" if it does not answer.
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

// awaitCondition asks until something is so.
func awaitCondition(what string, so func() bool) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(25 * time.Millisecond) {
		if so() {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("after %s it is still not so that %s", patience, what)
		}
	}
}
