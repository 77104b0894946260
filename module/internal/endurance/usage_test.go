package endurance

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cpuTime is what a process has used: fields 14 and 15 of /proc/PID/stat, in hundredths of
// a second on every Linux.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	var user, system int64
	fields := strings.Fields(rest)
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// ownCPU is what this process has used.
func ownCPU(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// residentMemory is the VmRSS of a process, in bytes.
func residentMemory(t *testing.T, pid int) int64 {
	t.Helper()
	_, rest, ok := strings.Cut(readFile(t, fmt.Sprintf("/proc/%d/status", pid)), "VmRSS:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); !ok || err != nil {
		t.Fatal("no VmRSS: ", err)
	}
	return kib << 10
}

// residentWithChildren is the VmRSS of a process and of those it has started.
func residentWithChildren(t *testing.T, pid int) int64 {
	t.Helper()
	all := residentMemory(t, pid)
	for _, child := range children(t, pid) {
		// One that has just ended has no memory.
		if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", child)); err == nil {
			if _, rest, ok := strings.Cut(string(status), "VmRSS:"); ok {
				var kib int64
				_, _ = fmt.Sscan(rest, &kib)
				all += kib << 10
			}
		}
	}
	return all
}

// children are the processes that any thread of a process has started and that live.
func children(t *testing.T, pid int) (found []int) {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(list)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, child)
		}
	}
	return found
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
