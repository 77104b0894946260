package aside

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inherited is where this process is, and its files without those of the runtime.
func inherited() []string {
	at, _ := os.Getwd()
	files, _ := os.ReadDir("/proc/self/fd")
	found := []string{at}
	for _, f := range files {
		to, err := os.Readlink("/proc/self/fd/" + f.Name())
		if err != nil || strings.HasPrefix(to, "anon_inode:") || strings.HasPrefix(to, "/sys/fs/cgroup/") {
			continue
		}
		found = append(found, f.Name()+" "+to)
	}
	return found
}

// handedDown are files that who started these tests has left open for every program.
func handedDown() (found []string) {
	for _, f := range inherited()[1:] {
		number, _, _ := strings.Cut(f, " ")
		fd, _ := strconv.Atoi(number)
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && fd > 2 && flags&unix.FD_CLOEXEC == 0 {
			found = append(found, f)
		}
	}
	return found
}

func TestAProcessHasNoFilesButItsTwoPipes(t *testing.T) {
	p, _, _ := with(t, func(c *Config) { c.Processes = 2 })
	pid(t, p)
	// The second is started while this process has the pipes of the first.
	got := strings.Split(string(p.Do([]byte("inherited"))), ",")
	others := handedDown()
	got = slices.DeleteFunc(got, func(f string) bool { return slices.Contains(others, f) })
	if len(got) != 4 || got[0] != "/" || !strings.HasPrefix(got[1], "0 pipe:") || !strings.HasPrefix(got[2], "1 pipe:") || got[3] != "2 /dev/null" {
		t.Errorf("%q", got)
	}
}

// A terminal tells the whole group to end, a service manager all of the service: the owner
// says when it is enough.
func TestWhatEndsItsOwnerDoesNotEndAProcess(t *testing.T) {
	p, _, _ := with(t, nil)
	n := pid(t, p)
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if err := syscall.Kill(n, s); err != nil {
			t.Fatal(err)
		}
		if again := pid(t, p); again != n {
			t.Fatalf("after %v the process is %d, not %d", s, again, n)
		}
	}
}

func TestAProcessThatDoesNotEndIsKilled(t *testing.T) {
	p, _, _ := with(t, nil)
	n := pid(t, p)
	t.Cleanup(func() { _ = syscall.Kill(n, syscall.SIGKILL) })
	if err := syscall.Kill(n, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		p.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Fatal("Close waits for it")
	}
	gone(t, n)
}

func TestAProgramWithArgumentsDoesWhatTheySay(t *testing.T) {
	program := exec.Cmd{Path: "/proc/self/exe", Args: []string{name, "-test.run=^$"}, Env: []string{}}
	if out, err := program.CombinedOutput(); err != nil || bytes.Contains(out, []byte(name)) {
		t.Errorf("%v %q", err, out)
	}
}

func TestAProgramWhoseFileIsGoneStartsItselfAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "program")
	b, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(file, b, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	program := exec.Cmd{Path: file, Args: []string{replaced}}
	if out, err := program.CombinedOutput(); err != nil {
		t.Errorf("%v %s", err, out)
	}
}

// withoutAFile is what such a program does, and its exit status.
func withoutAFile() int {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	file, err := os.Executable()
	if err == nil {
		err = os.Remove(file)
	}
	p, wrong := New(Config{Name: name, Do: work, Processes: 1, Patience: time.Minute, Log: log})
	if err = errors.Join(err, wrong); err != nil {
		log.Error("it could not be prepared", slog.Any("error", err))
		return 2
	}
	defer p.Close()
	if string(p.Do([]byte("pid"))) == strconv.Itoa(os.Getpid()) {
		return 1
	}
	return 0
}

// heap is what a request of "fill" needs.
const heap = 48 << 20

var filled []byte

// fill returns what this process has got of the system for its heap, so far.
func fill() uint64 {
	filled = make([]byte, heap)
	for i := 0; i < len(filled); i += 4096 {
		filled[i] = 1
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	filled = nil
	return m.HeapSys
}

func TestTheNextRequestGetsTheMemoryOfTheLast(t *testing.T) {
	p, _, _ := with(t, nil)
	for range 4 {
		got, err := strconv.Atoi(string(p.Do([]byte("fill"))))
		if err != nil || got < heap || got >= 2*heap {
			t.Fatalf("%d MiB for %d, %v", got>>20, heap>>20, err)
		}
	}
	if p.Fault() != nil {
		t.Error(p.Fault())
	}
}

// fake is a process that has said all it will say, and does not read.
func fake(t *testing.T, frames ...[]byte) *process {
	t.Helper()
	out, says, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	hears, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range []io.Closer{out, says, hears, in} {
			_ = c.Close()
		}
	})
	if _, err := says.Write(slices.Concat(frames...)); err != nil {
		t.Fatal(err)
	}
	return &process{in: in, out: out}
}

func frame(t *testing.T, number uint32, body string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeFrame(&b, number, []byte(body)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWhatIsNotTheAnswerIsNotTakenForIt(t *testing.T) {
	for _, c := range []struct {
		name string
		says []byte
		want string
	}{
		{"the answer", frame(t, 7, "yes"), "yes"},
		{"that of the last request", slices.Concat(frame(t, 6, "yes"), frame(t, 7, "no")), ""},
		{"nothing in it", frame(t, 7, ""), ""},
		{"half of it", frame(t, 7, "yes")[:frameHeader+2], ""},
		{"silence", nil, ""},
	} {
		answer, err := fake(t, c.says).ask(7, []byte("?"), 50*time.Millisecond)
		if string(answer) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", c.name, answer, err)
		}
	}
}

func TestOnlyWhatGreetsIsAsked(t *testing.T) {
	for _, c := range []struct {
		name string
		says []byte
		ok   bool
	}{
		{"the greeting", frame(t, 0, name), true},
		{"another program", frame(t, 0, "login:"), false},
		{"one that prints", []byte("usage: program [flags]\n"), false},
		{"one that says nothing", nil, false},
	} {
		if err := fake(t, c.says).greeted(name, 50*time.Millisecond); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Who has many pipes gets small ones (pipe-user-pages-soft in pipe(7)): then a process that
// hangs does not even take a request.
func TestAProcessThatDoesNotReadIsNotWaitedFor(t *testing.T) {
	p := fake(t)
	raw, err := p.in.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 4096) }); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := p.ask(1, make([]byte, maxFrame), 50*time.Millisecond)
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("it is waited for")
	}
}
