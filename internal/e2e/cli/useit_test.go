package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S09: the README's section ends with a 200, with its own Caddyfile and commands. Only the ports
// are others.
func TestTheReadmeEndsWithA200OnLocalhost(t *testing.T) {
	raw, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	ports := harness.FreePorts(t, 3)
	text := strings.NewReplacer("localhost:8080", "localhost:"+strconv.Itoa(ports[0]), "localhost:8081", "localhost:"+strconv.Itoa(ports[1])).Replace(string(raw))
	_, section, ok := strings.Cut(text, "\n### On this machine\n")
	section, _, _ = strings.Cut(section, "\n### ")
	_, caddyfile, ok2 := strings.Cut(section, "\n```caddyfile\n")
	caddyfile, _, _ = strings.Cut(caddyfile, "```\n")
	if !ok || !ok2 {
		t.Fatal("the section is gone")
	}
	work := t.TempDir()
	if err := os.Symlink(absolute(t, harness.Program(t)), filepath.Join(work, "caddy")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "Caddyfile"), []byte(caddyfile), 0o600); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	env := append(os.Environ(), "XDG_DATA_HOME="+data, "XDG_CONFIG_HOME="+data, "CADDY_ADMIN=localhost:"+strconv.Itoa(ports[2]))
	shell := func(script string) (string, error) {
		cmd := exec.Command("bash", "-c", script)
		cmd.Dir, cmd.Env = work, env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	var script []string
	for line := range strings.Lines(section) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "); ok {
			if command == "./caddy start" {
				command += " >start.log 2>&1" // else the pipe of this test stays open
			}
			script = append(script, command+" || echo FAILED: line "+strconv.Itoa(len(script)+1)+", $?")
		}
	}
	t.Cleanup(func() { _, _ = shell("./caddy stop") })
	out, err := shell(strings.Join(script, "\n"))
	if err != nil || len(script) < 7 || strings.Contains(out, "FAILED") || !strings.Contains(out, "HTTP/1.1 200 OK") || !strings.Contains(out, `"title":"Maps"`) {
		log, _ := os.ReadFile(filepath.Join(work, "start.log"))
		t.Errorf("%v: %s\n%s", err, out, log)
	}
	if strings.Count(out, "HTTP/1.1 ") != 1 || !strings.Contains(out, "alice") {
		t.Errorf("%s", out)
	}
}
