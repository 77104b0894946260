package quickstart

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

func TestRunPrintsAddressesThatAnswerAndStopsCleanly(t *testing.T) {
	s := start(t)
	said := s.out.String()
	for address, want := range map[string]int{
		s.reader: http.StatusOK,
		s.issuer + "/.well-known/oauth-authorization-server": http.StatusOK,
		s.api + "/articles":  http.StatusUnauthorized,
		s.legacy:             http.StatusNotFound,
		s.admin + "/metrics": http.StatusOK,
	} {
		if !strings.Contains(said, address) {
			t.Errorf("run.sh does not print %s", address)
		}
		if got, body := harness.Get(t, address); got != want {
			t.Errorf("%s answers %d, want %d: %.200s", address, got, want, body)
		}
	}
	for _, name := range []string{"env", "state.db", "caddy.log"} {
		info, err := os.Stat(filepath.Join(s.dir, "state", name))
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("state/%s can be read by others: %v", name, info.Mode())
		}
	}
	secret := s.secret(t, "READER_SECRET")
	if len(secret) != 43 || strings.Contains(said+s.log(), secret) {
		t.Errorf("the secret has %d characters or is printed", len(secret))
	}
	s.stop(t)
	s.run(t)
	if s.secret(t, "READER_SECRET") != secret {
		t.Error("the second start made new secrets")
	}
}

func TestRunNamesAPortThatIsTaken(t *testing.T) {
	s := prepare(t)
	l, err := net.Listen("tcp", s.addrs[2])
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := exec.CommandContext(t.Context(), filepath.Join(s.dir, "run.sh"), "/bin/false", "/bin/false", "/bin/false")
	cmd.Env = s.environ()
	out, err := cmd.CombinedOutput()
	_, port, _ := net.SplitHostPort(s.addrs[2])
	if err == nil || !strings.Contains(string(out), "port "+port+" is in use") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestRunEndsWhenAProgramDoes(t *testing.T) {
	s := prepare(t)
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"caddy":  {"/bin/false", filepath.Join(dir, "legacy"), filepath.Join(dir, "reader")},
		"legacy": {filepath.Join(s.dir, "..", "..", "caddy"), "/bin/false", filepath.Join(dir, "reader")},
		"reader": {filepath.Join(s.dir, "..", "..", "caddy"), filepath.Join(dir, "legacy"), "/bin/false"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, filepath.Join(s.dir, "run.sh"), args...)
		cmd.Env, cmd.WaitDelay = s.environ(), time.Second
		begun := time.Now()
		out, err := cmd.CombinedOutput()
		cancel()
		if err == nil || !strings.Contains(string(out), "run.sh: ") {
			t.Errorf("%s ended: %v: %s", name, err, out)
		}
		if took := time.Since(begun); took > stopWithin {
			t.Errorf("%s ended: it took %v to notice", name, took)
		}
	}
}

func TestRunEndsWhenCaddyIsStoppedLater(t *testing.T) {
	s := start(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.admin+"/stop", nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := harness.Do(t, http.DefaultClient, r); p.Status != http.StatusOK {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	select {
	case <-s.done:
	case <-time.After(stopWithin):
		t.Fatal("run.sh goes on without Caddy")
	}
	if s.err == nil || !strings.Contains(s.out.String(), "a program has ended") {
		t.Errorf("%v: %s", s.err, s.out)
	}
	s.nothingListens(t)
}
