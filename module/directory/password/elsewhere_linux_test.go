package password

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// hashing counts the processes of this one that hash.
func hashing(t *testing.T) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		b, _ := os.ReadFile(file) // it may be gone
		if status := string(b); strings.HasPrefix(status, "Name:\t"+program+"\n") && strings.Contains(status, fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) {
			n++
		}
	}
	return n
}

func TestAsManyProcessesHashAsAreOpenAndNoneAfterwards(t *testing.T) {
	e, _ := opened(t, 2)
	parsed(t, "{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk=").Matches(battery)
	if n := hashing(t); n != 0 {
		t.Errorf("%d processes before anything takes time", n)
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { Hash(battery) })
	}
	all.Wait()
	if n := hashing(t); n != 2 || e.Fault() != nil {
		t.Errorf("%d processes hash, %v", n, e.Fault())
	}
	e.Close()
	if n := hashing(t); n != 0 {
		t.Errorf("%d processes after Close", n)
	}
}
