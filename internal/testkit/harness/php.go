package harness

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// variables tells what a program in PHP gets of a request's header.
const variables = `<?php
header("Content-Type: application/json");
echo json_encode(array_filter($_SERVER, fn($name) => str_starts_with($name, "HTTP_"), ARRAY_FILTER_USE_KEY));
`

// PHPVariables starts PHP and returns a handler that has it answer with the variables that it makes of a request's header.
func PHPVariables(t testing.TB) http.HandlerFunc {
	t.Helper()
	dir := t.TempDir()
	FailOn(t, os.WriteFile(filepath.Join(dir, "index.php"), []byte(variables), 0o644))
	addr := fmt.Sprintf("127.0.0.1:%d", FreePorts(t, 1)[0])
	// The shell ends PHP when its standard input ends, which it does with this process, however that ends.
	cmd := exec.Command("sh", "-c", `php -S "$0" "$1" </dev/null & read -r _; kill -9 $! 2>/dev/null; wait`, addr, filepath.Join(dir, "index.php"))
	alive, err := cmd.StdinPipe()
	FailOn(t, err)
	FailOn(t, cmd.Start())
	t.Cleanup(func() { _ = alive.Close(); _ = cmd.Wait() })
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			return httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr}).ServeHTTP
		}
		if time.Now().After(deadline) {
			t.Fatal("PHP does not answer: run ./xcaddy.sh test in the top folder, which installs it first")
		}
	}
}
