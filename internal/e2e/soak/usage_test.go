package soak

import (
	"fmt"
	"os"
	"strings"
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

// collectOften has the programs of a test collect garbage at Go's own pace. What is resident then tells
// what is in use, without the headroom that a gateway otherwise leaves to garbage.
func collectOften(t *testing.T) {
	t.Helper()
	t.Setenv("GOGC", "100")
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

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
