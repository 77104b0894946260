package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// terminal opens a pseudo-terminal: what is written to the first is typed at the second.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	var unlocked, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlocked, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = slave.Close() })
	return master, slave
}

// silent waits until the terminal shows nothing of what is typed: it is told so just after
// the prompt.
func silent(t *testing.T, slave *os.File) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		var state syscall.Termios
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, slave.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&state))); errno != 0 {
			t.Fatal(errno)
		}
		if state.Lflag&syscall.ECHO == 0 {
			return
		}
	}
	t.Fatal("what is typed is shown")
}

// typed runs `user add NAME` at a terminal and types the two passwords.
func typed(t *testing.T, g *harness.Gateway, name, first, second string) (shown string, code int) {
	t.Helper()
	master, slave := terminal(t)
	cmd := exec.Command(harness.Program(t), append([]string{"gatehouse"}, at(g, []string{"user", "add", name})...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	screen := make(chan string, 100)
	go func() {
		defer close(screen)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			screen <- string(buf[:n])
		}
	}()
	var all strings.Builder
	await := func(text string) {
		deadline := time.After(20 * time.Second)
		for !strings.Contains(all.String(), text) {
			select {
			case s, ok := <-screen:
				if !ok {
					t.Fatalf("no %q on the screen: %q", text, all.String())
				}
				all.WriteString(s)
			case <-deadline:
				t.Fatalf("no %q on the screen: %q", text, all.String())
			}
		}
	}
	for _, step := range []struct{ prompt, answer string }{{"Password: ", first}, {"Again: ", second}} {
		await(step.prompt)
		silent(t, slave)
		if _, err := master.WriteString(step.answer + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait()                        // its exit code is looked at
	if err := slave.Close(); err != nil { // the screen ends with what the command wrote last
		t.Fatal(err)
	}
	for s := range screen {
		all.WriteString(s)
	}
	return all.String(), cmd.ProcessState.ExitCode()
}

func TestTerminalPasswordIsAskedTwiceAndHidden(t *testing.T) {
	g := start(t)
	shown, code := typed(t, g, "alice", password, password)
	if code != 0 || !strings.Contains(shown, "alice") || strings.Contains(shown, "correct horse") {
		t.Errorf("%d %q", code, shown)
	}
	shown, code = typed(t, g, "bob", password, password+"x")
	if code != 1 || !strings.Contains(shown, "differ") || strings.Contains(shown, "correct horse") {
		t.Errorf("%d %q", code, shown)
	}
	if r := command(t, g, "", "user", "show", "bob"); r.code != 4 {
		t.Errorf("%+v", r)
	}
}
