package redistest

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
)

const childEnv = "GATEHOUSE_TEST_REDIS_CHILD"

// The child is this test in a process of its own. It starts a server and waits to be killed.
func TestServerDiesWithItsParentEvenFrozen(t *testing.T) {
	if os.Getenv(childEnv) != "" {
		s := Start(t)
		s.Freeze()
		fmt.Println(s.Addr)
		select {}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(exe, "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), childEnv+"=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	awaitCondition(t, "the port is free", func() bool { return !listens(addr[:len(addr)-1]) })
}

// listens reports whether anything accepts connections, even if it is a frozen server.
func listens(addr string) bool {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
