//go:build unix

package redistest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/ports"
)

// Server is a redis-server on a loopback port, for this test process alone.
type Server struct {
	// Addr is host:port.
	Addr string

	*process
	t   testing.TB
	tls *Certificates // nil for a server without TLS
}

// Start starts a server that writes nothing to disk, and stops it when the test ends. args are further options, such
// as "--maxmemory", "10mb". With "--appendonly", "yes" the data survive a Restart.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return newLauncher(t).startServer(nil, args...)
}

// launcher starts programs for a test.
type launcher struct {
	t    testing.TB
	dir  string
	keep func(*process) // is to end what was started
}

// newLauncher returns a launcher whose programs are stopped when the test ends.
func newLauncher(t testing.TB) launcher {
	t.Helper()
	return launcher{t, t.TempDir(), func(p *process) {
		t.Cleanup(func() {
			if err := p.stopWith(syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		})
	}}
}

func failOn(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// startServer starts a server on a free port, and tries another if that was taken meanwhile.
func (l launcher) startServer(certs *Certificates, args ...string) *Server {
	l.t.Helper()
	for try := 1; ; try++ {
		found := ports.Servers.Free(l.t, 2)
		s := &Server{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(found[0])), t: l.t, tls: certs}
		// A configuration file can be rewritten by sentinels and cluster nodes.
		config := filepath.Join(l.dir, fmt.Sprintf("redis-%d.conf", found[0]))
		port, options := "port", []string(nil)
		if certs != nil {
			port, options = "port 0\ntls-port", certs.serverOptions()
		}
		text := fmt.Sprintf("%s %d\nbind 127.0.0.1\ndir %q\nsave \"\"\nappendonly no\ncluster-port %d\ncluster-config-file nodes-%[2]d.conf\ndbfilename dump-%[2]d.rdb\nappenddirname aof-%[2]d\n",
			port, found[0], l.dir, found[1])
		failOn(l.t, os.WriteFile(config, []byte(text), 0o600))
		s.process = &process{program: "redis-server", addr: s.Addr, args: slices.Concat([]string{config}, options, args)}
		if certs != nil {
			s.process.tls = certs.clientConfig(l.t)
		}
		err := s.startProcess()
		if err == nil {
			l.keep(s.process)
			return s
		}
		if try == 3 || !strings.Contains(err.Error(), "already in use") {
			l.t.Fatal(err)
		}
	}
}

// URL returns the URL of the first database.
func (s *Server) URL() string {
	if s.tls != nil {
		return "rediss://" + s.Addr + "/0"
	}
	return "redis://" + s.Addr + "/0"
}

// Stop shuts the server down as an operator would, which closes its connections, and waits until it is gone.
func (s *Server) Stop() {
	s.t.Helper()
	if err := s.stopWith(syscall.SIGCONT, syscall.SIGTERM); err != nil {
		s.t.Error(err)
	}
}

// Kill kills the server with SIGKILL and waits until it is gone.
func (s *Server) Kill() {
	s.t.Helper()
	if err := s.stopWith(syscall.SIGKILL); err != nil {
		s.t.Error(err)
	}
}

// Freeze has the server accept connections and requests but answer none, until Thaw.
func (s *Server) Freeze() { s.sendSignal(syscall.SIGSTOP) }

// Thaw has the server answer again, including what arrived meanwhile.
func (s *Server) Thaw() { s.sendSignal(syscall.SIGCONT) }

// Restart kills the server if it is still running, and starts it again at the same address.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	failOn(s.t, s.startProcess())
}

// CLI runs a command with redis-cli and returns the output. A failing command fails the test.
func (s *Server) CLI(args ...string) string {
	s.t.Helper()
	if s.tls != nil {
		args = append([]string{"--tls", "--cacert", s.tls.CA, "--cert", s.tls.Cert, "--key", s.tls.Key}, args...)
	}
	out, err := runCLI(s.Addr, args...)
	failOn(s.t, err)
	return out
}

func runCLI(addr string, args ...string) (string, error) {
	path, err := exec.LookPath("redis-cli")
	if err != nil {
		return "", fmt.Errorf("these tests need redis-cli, in Debian the package redis-tools")
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	out, err := exec.Command(path, append([]string{"-e", "-h", host, "-p", port}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("redis-cli %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimRight(string(out), "\n"), nil
}
