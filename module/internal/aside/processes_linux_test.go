package aside

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const name = "aside-test"

// mute is a name under which this program ends at once.
const mute = "aside-mute"

// replaced is a name under which it loses its file first.
const replaced = "aside-replaced"

func init() {
	switch os.Args[0] {
	case mute:
		os.Exit(0)
	case replaced:
		os.Exit(withoutAFile())
	}
	Serve(name, work)
}

// work is done in the processes of these tests, and here.
func work(request []byte) []byte {
	switch verb, rest, _ := strings.Cut(string(request), " "); verb {
	case "pid":
		return []byte(strconv.Itoa(os.Getpid()))
	case "echo":
		return []byte(rest)
	case "environment":
		return []byte(strings.Join(append(os.Environ(), os.Args...), ","))
	case "inherited":
		return []byte(strings.Join(inherited(), ","))
	case "work":
		if d, err := time.ParseDuration(rest); err == nil {
			for spent := processorTime(); processorTime() < spent+d; {
			}
		}
		return []byte("done")
	case "fill":
		return []byte(strconv.FormatUint(fill(), 10))
	case "only-here":
		if _, here := os.LookupEnv("PATH"); here {
			return []byte("here")
		}
	case "die":
		if _, here := os.LookupEnv("PATH"); !here {
			os.Exit(3)
		}
		return []byte("here")
	}
	return nil
}

// processorTime is what this process has had.
func processorTime() time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &at); err != nil {
		panic(err)
	}
	return time.Duration(at.Nano())
}

// clock stands still until it is moved.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(c.at.Load(), 0) }

func with(t *testing.T, change func(*Config)) (p *Processes, log *bytes.Buffer, now *clock) {
	t.Helper()
	log, now = new(bytes.Buffer), new(clock)
	c := Config{Name: name, Do: work, Processes: 1, Patience: 20 * time.Second, Log: slog.New(slog.NewTextHandler(log, nil)), Now: now.now}
	if change != nil {
		change(&c)
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, log, now
}

func pid(t *testing.T, p *Processes) int {
	t.Helper()
	n, err := strconv.Atoi(string(p.Do([]byte("pid"))))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the process %d is still there", pid)
		}
	}
}

func TestWorkIsDoneInAProcessThatKnowsNothingAndEndsWhenItIsNotNeeded(t *testing.T) {
	t.Setenv("A_SECRET", "s3cret")
	p, log, _ := with(t, nil)
	first := pid(t, p)
	if first == os.Getpid() {
		t.Fatalf("the work was done here: %v\n%s", p.Fault(), log)
	}
	if again := pid(t, p); again != first {
		t.Errorf("process %d, then %d", first, again)
	}
	if said := string(p.Do([]byte("environment"))); said != name {
		t.Errorf("environment and arguments %q", said)
	}
	if comm, err := os.ReadFile("/proc/" + strconv.Itoa(first) + "/comm"); err != nil || strings.TrimSpace(string(comm)) != name {
		t.Errorf("called %q, %v", comm, err)
	}
	p.Close()
	gone(t, first)
	if last := pid(t, p); last != os.Getpid() {
		t.Errorf("after Close the work was done in %d", last)
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", log)
	}
}

func TestAProcessKeepsToOneProcessor(t *testing.T) {
	p, _, _ := with(t, nil)
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(pid(t, p)) + "/task")
	if err != nil {
		t.Fatal(err)
	}
	own := processors("/proc/self/status")
	for _, task := range tasks {
		list := processors("/proc/" + strconv.Itoa(pid(t, p)) + "/task/" + task.Name() + "/status")
		if strings.ContainsAny(list, ",-") {
			t.Errorf("a thread may run on %s of %s", list, own)
		}
	}
	p.Close() // else the one that waits for its end is not free to be seen
	for i, n := range processorsOfThreads() {
		if n != runtime.NumCPU() {
			t.Errorf("thread %d of this process may run on %d of %d", i, n, runtime.NumCPU())
		}
	}
}

// processors are those that a thread may run on, nothing if it is gone.
func processors(path string) string {
	b, _ := os.ReadFile(path)
	_, rest, _ := strings.Cut(string(b), "Cpus_allowed_list:\t")
	list, _, _ := strings.Cut(rest, "\n")
	return list
}

// processorsOfThreads says how many each thread may run on that this program works with. The
// main one may not be among them: the runtime parks it where it would end any other.
func processorsOfThreads() []int {
	counts := make([]int, 32)
	var met, all sync.WaitGroup
	met.Add(len(counts))
	for i := range counts {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			met.Done()
			met.Wait() // so that each has a thread of its own
			var set unix.CPUSet
			if unix.SchedGetaffinity(0, &set) == nil {
				counts[i] = set.Count()
			}
		})
	}
	all.Wait()
	return counts
}

func TestAProcessThatDiesCostsNoAnswer(t *testing.T) {
	p, log, now := with(t, nil)
	first := pid(t, p)
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, first)
	if got := string(p.Do([]byte("echo first"))); got != "first" {
		t.Errorf("answer %q", got)
	}
	if n := pid(t, p); n != os.Getpid() || p.Fault() == nil {
		t.Errorf("another was started at once: %d, %v", n, p.Fault())
	}
	now.at.Add(int64(pause / time.Second))
	if n := pid(t, p); n == os.Getpid() || p.Fault() != nil {
		t.Errorf("none was started after the pause: %v", p.Fault())
	}
	// In the middle of the work, too.
	if got := string(p.Do([]byte("die"))); got != "here" {
		t.Errorf("answer %q", got)
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 2 {
		t.Errorf("%d warnings, one for each death: %s", n, log)
	}
	if !strings.Contains(log.String(), "again") {
		t.Errorf("nobody says that it works again: %s", log)
	}
}

func TestAProcessThatHangsIsKilled(t *testing.T) {
	p, _, _ := with(t, func(c *Config) { c.Patience = 200 * time.Millisecond })
	n := pid(t, p)
	if err := syscall.Kill(n, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if got := string(p.Do([]byte("echo first"))); got != "first" {
		t.Errorf("answer %q", got)
	}
	if took := time.Since(begin); took > greeting/2 {
		t.Errorf("after %v", took)
	}
	gone(t, n)
}

func TestWhereNoProcessCanBeStartedTheWorkIsDoneHere(t *testing.T) {
	p, log, _ := with(t, func(c *Config) { c.Name = mute })
	for range 3 {
		if n := pid(t, p); n != os.Getpid() {
			t.Errorf("done in %d", n)
		}
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 1 || p.Fault() == nil {
		t.Errorf("%d warnings, fault %v: %s", n, p.Fault(), log)
	}
	if !strings.Contains(log.String(), "greet") {
		t.Errorf("logged: %s", log)
	}
}

func TestWhatIsTooLongOrNotUnderstoodIsDoneHere(t *testing.T) {
	p, _, _ := with(t, nil)
	pid(t, p)
	for _, n := range []int{1, maxFrame - len("echo "), maxFrame, 4 * maxFrame} {
		long := strings.Repeat("x", n)
		if got := string(p.Do([]byte("echo " + long))); got != long {
			t.Errorf("%d bytes came back as %d", n, len(got))
		}
		if p.Fault() != nil {
			t.Errorf("%d bytes: %v", n, p.Fault())
		}
	}
	if got := p.Do([]byte("what")); len(got) != 0 {
		t.Errorf("answer %q", got)
	}
	if got := string(p.Do([]byte("only-here"))); got != "here" {
		t.Errorf("what was not answered elsewhere: %q", got)
	}
}

func TestNoMoreWorkIsDoneAtATimeThanThereMayBeProcesses(t *testing.T) {
	var at, most atomic.Int64
	p, _, _ := with(t, func(c *Config) {
		c.Name, c.Processes = name, 2
		c.Do = func(r []byte) []byte {
			n := at.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(time.Millisecond)
			at.Add(-1)
			return r
		}
	})
	p.Close() // so that all is done here
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { p.Do([]byte("x")) })
	}
	all.Wait()
	if most.Load() != 2 {
		t.Errorf("%d at a time", most.Load())
	}
}

func TestProcessesEndWhileTheyAreAskedFromEverywhere(t *testing.T) {
	p, _, _ := with(t, func(c *Config) { c.Processes = 3 })
	var all sync.WaitGroup
	pids := make(chan int, 300)
	ctx, stop := context.WithCancel(t.Context())
	for i := range 10 {
		all.Go(func() {
			for n := 0; n < 20 || ctx.Err() == nil; n++ {
				want := strconv.Itoa(1000*i + n)
				if got := string(p.Do([]byte("echo " + want))); got != want {
					t.Errorf("the answer to %s is %s", want, got)
				}
				if n < 20 {
					pids <- pid(t, p)
				}
			}
		})
	}
	for range 60 {
		if n := <-pids; n != os.Getpid() {
			defer gone(t, n)
		}
	}
	p.Close()
	p.Close()
	stop()
	all.Wait()
}
