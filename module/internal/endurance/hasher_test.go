package endurance

import (
	"errors"
	"fmt"
	"os"
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

// hashedBy is the one process that hashes for a gateway at a sign-in after something was
// done to them: the given one, unless that is 0. Of a busy machine a process that got
// nothing is ended and another one comes; a few times in a row is no longer the machine.
func (s *site) hashedBy(t *testing.T, gateway, as int, done func()) int {
	t.Helper()
	for range 4 {
		done()
		s.signIn(t)
		now := hashers(t, gateway)
		switch {
		case len(now) > 1:
			t.Fatalf("hashers %v", now)
		case len(now) == 0:
			as = 0
		case as == 0 || now[0] == as:
			return now[0]
		default:
			as = now[0]
		}
	}
	t.Fatal("each sign-in has another hasher")
	return 0
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
			h := s.hashedBy(t, p.PID(), 0, func() {})
			for _, file := range []string{"environ", "cmdline"} {
				if said := strings.Trim(readFile(t, fmt.Sprintf("/proc/%d/%s", h, file)), "\x00"); said != "" && said != "gatehouse-hash" {
					t.Errorf("%s is %q", file, said)
				}
			}
			// A new configuration goes on with it.
			version := 1
			h = s.hashedBy(t, p.PID(), h, func() {
				version++
				s.reload(t, s.config("$VERSION", fmt.Sprint(version)))
			})
			// A service manager or a terminal tells all of them to end: this one has to stay
			// until the gateway does.
			h = s.hashedBy(t, p.PID(), h, func() {
				for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
					if err := syscall.Kill(h, signal); err != nil {
						t.Fatal(err)
					}
				}
			})
			if out := p.Output(); strings.Contains(out, password) || strings.Contains(out, "gatehouse.hashing") {
				t.Errorf("logged: %s", out)
			}
			if err := end(p.PID()); err != nil {
				t.Fatal(err)
			}
			ended(t, h)
		})
	}
}
