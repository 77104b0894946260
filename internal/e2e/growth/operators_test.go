package growth

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// mostMemory is what a command may take, whatever the store has. `user list` alone has all that it prints in memory.
const mostMemory = 200 << 20

// What the commands of operators cost as the store grows. Each user has one line in the file that is imported.
func TestOperatorCommandsWithManyUsers(t *testing.T) {
	for _, n := range sizes(500, 10_000, 100_000) {
		file := filepath.Join(t.TempDir(), "users.jsonl")
		harness.FailOn(t, os.WriteFile(file, []byte(importLines(n)), 0o600))
		server := redistest.Start(t)
		for _, backend := range [][2]string{{"bolt", "bolt $DIR/state.db"}, {"Redis", "redis " + server.URL() + " {\n timeout 5s\n}"}} {
			s := startNode(t, 0, "$STORE", backend[1], "$USERS", "store")
			run := func(what string, words ...string) {
				t.Helper()
				before := s.cpu(t)
				took := operatorCommand(t, append([]string{"gatehouse"}, append(words, "--address", strings.TrimPrefix(s.Admin, "http://"))...)...)
				t.Logf("| %s, %d users in %s | %v | %v of CPU and %d MiB of the command | %v of CPU of the node |",
					what, n, backend[0], took.wall, took.cpu, took.memory>>20, s.cpu(t)-before)
				if what != "user list" && took.memory > mostMemory {
					t.Errorf("%s takes %d MiB", what, took.memory>>20)
				}
			}
			run("user import", "user", "import", file)
			run("user import again", "user", "import", file)
			run("user list", "user", "list", "--format", "json")
			run("doctor", "doctor")
			if backend[0] == "bolt" {
				run("backup", "backup", filepath.Join(s.Dir, "state.backup"))
			}
			begun := time.Now()
			page := s.call(t, 200, "GET", s.Admin+"/gatehouse/users?limit=100&after=u-5", "")
			t.Logf("| a page of 100 users behind half of %d in %s | %v, %d bytes | %d MiB of heap |", n, backend[0], time.Since(begun).Round(time.Millisecond), len(page), s.heap(t)>>20)
			s.Stop()
			if backend[0] == "bolt" {
				to := redistest.Start(t)
				took := operatorCommand(t, "gatehouse", "move", "--config", filepath.Join(s.Dir, "Caddyfile"), "--to", to.URL())
				t.Logf("| move to Redis, %d users in bolt | %v | %v of CPU and %d MiB of the command |", n, took.wall, took.cpu, took.memory>>20)
				if took.memory > mostMemory {
					t.Errorf("move takes %d MiB", took.memory>>20)
				}
			}
		}
	}
}

func importLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"u-%d","username":"user%[1]d","name":"User Number %[1]d","email":"user%[1]d@example.com","password_hash":%[2]q}`+"\n", i, harness.PasswordHash)
	}
	return b.String()
}

// spent is what a command took.
type spent struct {
	wall, cpu time.Duration
	memory    int64 // at most, in bytes
}

// operatorCommand runs a command of the program, which must succeed or find something, as doctor does.
func operatorCommand(t *testing.T, words ...string) spent {
	t.Helper()
	var errors bytes.Buffer
	cmd := exec.Command(harness.Program(t), words...)
	cmd.Stderr = &errors
	begun := time.Now()
	harness.FailOn(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	most := int64(0)
	for {
		select {
		case err := <-ended:
			if err != nil && words[1] != "doctor" {
				t.Fatalf("%v: %v\n%.2000s", words, err, errors.String())
			}
			return spent{
				time.Since(begun).Round(time.Millisecond),
				(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(10 * time.Millisecond), most,
			}
		case <-time.After(10 * time.Millisecond):
			// The process's own high-water mark: that of rusage begins with the memory of this one.
			raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)) // fails if it has just ended
			_, after, _ := strings.Cut(string(raw), "VmHWM:")
			var kib int64
			_, _ = fmt.Sscan(after, &kib)
			most = max(most, kib<<10)
		}
	}
}
