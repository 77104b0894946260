package password

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hashing are the directories under /proc of the processes of this one that hash.
func hashing(t *testing.T) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		b, _ := os.ReadFile(file) // it may be gone
		if status := string(b); strings.HasPrefix(status, "Name:\t"+program+"\n") && strings.Contains(status, fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) {
			found = append(found, filepath.Dir(file))
		}
	}
	return found
}

func TestAsManyProcessesHashAsAreOpenAndNoneAfterwards(t *testing.T) {
	e, _ := opened(t, 2)
	parsed(t, "{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk=").Matches(battery)
	if n := len(hashing(t)); n != 0 {
		t.Errorf("%d processes before anything takes time", n)
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { Hash(battery) })
	}
	all.Wait()
	if n := len(hashing(t)); n != 2 || e.Fault() != nil {
		t.Errorf("%d processes hash, %v", n, e.Fault())
	}
	e.Close()
	if n := len(hashing(t)); n != 0 {
		t.Errorf("%d processes after Close", n)
	}
}

func TestWhatHashesForAGatewayGivesWayToIt(t *testing.T) {
	e, err := OpenElsewhere(1, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	// Of a busy machine it gets nothing: then there is none for a while, or one that competes.
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		Hash(battery)
		for _, dir := range hashing(t) {
			pid, err := strconv.Atoi(filepath.Base(dir))
			if err != nil {
				t.Fatal(err)
			}
			if attr, err := unix.SchedGetAttr(pid, 0); err == nil && attr.Policy == unix.SCHED_IDLE {
				return
			}
		}
	}
	t.Error("no process gave way for a minute")
}
