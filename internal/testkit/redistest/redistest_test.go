package redistest

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	code := m.Run()
	StopShared()
	os.Exit(code)
}

func TestServerForgetsOnRestartUnlessPersistent(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{{nil, "0"}, {[]string{"--appendonly", "yes", "--appendfsync", "always"}, "1"}} {
		s := Start(t, c.args...)
		addr := s.Addr
		s.CLI("set", "k", "v")
		s.Restart()
		if got := s.CLI("exists", "k"); got != c.want || s.Addr != addr {
			t.Errorf("%v: %s keys at %s, was %s", c.args, got, s.Addr, addr)
		}
	}
}

func TestStoppedServerAcceptsNoConnection(t *testing.T) {
	s := Start(t)
	for name, end := range map[string]func(){"stopped": s.Stop, "killed": s.Kill, "frozen and stopped": func() { s.Freeze(); s.Stop() }, "frozen and killed": func() { s.Freeze(); s.Kill() }} {
		end()
		if isServing(s.Addr, nil) {
			t.Errorf("%s, and it answers", name)
		}
		s.Restart()
	}
}

func TestFrozenServerAnswersOnceThawed(t *testing.T) {
	s := Start(t)
	l := dial(t, s.Addr)
	s.Freeze()
	l.say(t, "PING")
	if got, err := l.hear(100 * time.Millisecond); err == nil {
		t.Errorf("frozen, and it says %q", got)
	}
	s.Thaw()
	l.expect(t, "+PONG")
}

func TestOptionsReachTheServer(t *testing.T) {
	s := Start(t, "--maxmemory", "10mb", "--maxmemory-policy", "noeviction")
	if got := s.CLI("config", "get", "maxmemory"); !strings.HasSuffix(got, "\n10485760") {
		t.Error(got)
	}
}

func TestTLSServerRefusesPlainText(t *testing.T) {
	s, certs := StartTLS(t)
	if got := s.CLI("ping"); got != "PONG" || !strings.HasPrefix(s.URL(), "rediss://") {
		t.Errorf("%s says %q", s.URL(), got)
	}
	if isServing(s.Addr, nil) {
		t.Error("it answers without TLS")
	}
	trusting := certs.clientConfig(t)
	trusting.Certificates = nil
	if !isServing(s.Addr, trusting) {
		t.Error("it does not answer a client without a certificate")
	}
	s, certs = StartTLS(t, "--tls-auth-clients", "yes")
	trusting = certs.clientConfig(t)
	trusting.Certificates = nil
	if isServing(s.Addr, trusting) {
		t.Error("told otherwise, it answers a client without a certificate")
	}
}

func TestSharedServerIsStartedOnce(t *testing.T) {
	a, b := Shared(t), Shared(t)
	if a.Addr != b.Addr {
		t.Errorf("%s and %s", a.Addr, b.Addr)
	}
}

func TestSentinelsPromoteAReplicaAndDemoteTheOldPrimary(t *testing.T) {
	s := StartSentinel(t)
	if !strings.HasPrefix(s.URL(), "redis+sentinel://127.0.0.1:") || strings.Count(s.URL(), ",") != 2 || !strings.HasSuffix(s.URL(), "/gatehouse") {
		t.Error(s.URL())
	}
	s.Primary().CLI("set", "k", "v")
	if got := s.Primary().CLI("wait", "1", "1000"); got != "1" {
		t.Fatalf("%s replicas have it", got)
	}
	for range 2 {
		old := s.KillPrimary()
		promoted := s.WaitPromoted(old)
		if promoted.Addr == old.Addr || promoted.CLI("get", "k") != "v" {
			t.Fatalf("%s after %s: %q", promoted.Addr, old.Addr, promoted.CLI("get", "k"))
		}
		promoted.CLI("set", "k", "v")
		s.Rejoin(old)
		s.Primary().CLI("set", "k", "v")
		if got := s.Primary().CLI("wait", "1", "1000"); got != "1" || s.Replica().CLI("get", "k") != "v" {
			t.Fatalf("%s replicas", got)
		}
	}
}

func TestClusterServesAllKeysAndHasReplicas(t *testing.T) {
	c := StartCluster(t)
	if len(c.Nodes) != 6 || strings.Count(c.URL(), ",") != 2 {
		t.Errorf("%d nodes, %s", len(c.Nodes), c.URL())
	}
	seen := make(map[*Server]bool)
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		n := c.Holder(key)
		seen[n] = true
		n.CLI("set", key, "v")
		if got := n.CLI("get", key); got != "v" {
			t.Errorf("%s: %q", key, got)
		}
		if got := n.CLI("wait", "1", "1000"); got != "1" {
			t.Errorf("%s: %s replicas", key, got)
		}
	}
	if len(seen) != 3 {
		t.Errorf("keys are with %d nodes", len(seen))
	}
}
