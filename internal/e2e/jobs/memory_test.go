package jobs

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// memory is the most that was ever resident of a process, in KiB.
func memory(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), "VmHWM:")
	var n int64
	if _, err := fmt.Sscan(rest, &n); err != nil || !ok {
		t.Fatal(err)
	}
	return n
}

func limitOf(size int64) time.Duration { return 30*time.Second + time.Duration(size>>20)*time.Second/2 }
