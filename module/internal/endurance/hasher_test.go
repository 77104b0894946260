package endurance

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hashers are the processes in which a gateway hashes passwords.
func hashers(t *testing.T, pid int) (found []int) {
	t.Helper()
	for _, child := range children(t, pid) {
		if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", child)); err == nil && strings.TrimSpace(string(comm)) == "gatehouse-hash" {
			found = append(found, child)
		}
	}
	return found
}

func ended(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the process %d is still there", pid)
		}
	}
}

func TestAHasherComesWithTheFirstSignInAndNeverOutlivesItsGateway(t *testing.T) {
	for name, end := range map[string]func(pid int) error{
		"stopped": func(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) },
		"killed":  func(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			p := s.Run(t, s.config())
			if h := hashers(t, p.PID()); len(h) > 0 {
				t.Errorf("%v before anybody signed in", h)
			}
			s.signIn(t)
			h := hashers(t, p.PID())
			if len(h) != 1 {
				t.Fatalf("hashers %v\n%s", h, p.Output())
			}
			for _, file := range []string{"environ", "cmdline"} {
				if said := strings.Trim(readFile(t, fmt.Sprintf("/proc/%d/%s", h[0], file)), "\x00"); said != "" && said != "gatehouse-hash" {
					t.Errorf("%s is %q", file, said)
				}
			}
			// A new configuration goes on with it.
			s.reload(t, s.config("$VERSION", "2"))
			s.signIn(t)
			if now := hashers(t, p.PID()); !slices.Equal(now, h) {
				t.Errorf("hashers %v, then %v", h, now)
			}
			// A service manager or a terminal tells all of them to end: this one has to stay
			// until the gateway does.
			for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
				if err := syscall.Kill(h[0], signal); err != nil {
					t.Fatal(err)
				}
			}
			s.signIn(t)
			if now := hashers(t, p.PID()); !slices.Equal(now, h) {
				t.Errorf("hashers %v, then %v", h, now)
			}
			if out := p.Output(); strings.Contains(out, password) || strings.Contains(out, "gatehouse.hashing") {
				t.Errorf("logged: %s", out)
			}
			if err := end(p.PID()); err != nil {
				t.Fatal(err)
			}
			ended(t, h[0])
		})
	}
}
