package cli

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S09: the README's section ends with a 200, with the program that its own line builds, its own
// Caddyfile and commands. Only the ports are others.
func TestReadmeQuickStartEndsWithA200(t *testing.T) {
	raw, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	ports := harness.FreePorts(t, 3)
	text := strings.NewReplacer("localhost:8080", "localhost:"+strconv.Itoa(ports[0]), "localhost:8081", "localhost:"+strconv.Itoa(ports[1])).Replace(string(raw))
	_, section, ok := strings.Cut(text, "\n## Use it\n")
	building, section, ok1 := strings.Cut(section, "\n### On this machine\n")
	section, _, _ = strings.Cut(section, "\n### ")
	_, caddyfile, ok2 := strings.Cut(section, "\n```caddyfile\n")
	caddyfile, _, _ = strings.Cut(caddyfile, "```\n")
	if !ok || !ok1 || !ok2 {
		t.Fatal("the section is gone")
	}
	work := t.TempDir()
	build(t, work, building)
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

// build runs the section's line with the real xcaddy in an empty module cache. The checkout is what
// the module proxy has of this module; all others come from the module cache of this machine if
// they are there.
func build(t *testing.T, work, section string) {
	t.Helper()
	_, line, ok := strings.Cut(section, "$ xcaddy ")
	line, _, _ = strings.Cut(line, "\n")
	if !ok {
		t.Fatal("the line that builds Caddy is gone")
	}
	run := func(cmd *exec.Cmd) string {
		t.Helper()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", cmd.Args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	t.Setenv("CGO_ENABLED", "0") // as xcaddy.sh builds, so that little is compiled again
	bin, top := t.TempDir(), absolute(t, "../../..")
	run(exec.Command("go", "build", "-C", filepath.Join(top, ".ci/tools"), "-o", bin, "./moduleproxy", "github.com/caddyserver/xcaddy/cmd/xcaddy"))
	caddy := run(exec.Command("go", "list", "-m", "-f", "{{.Version}}", "github.com/caddyserver/caddy/v2"))
	modcache, goproxy := run(exec.Command("go", "env", "GOMODCACHE")), run(exec.Command("go", "env", "GOPROXY"))

	cmd := exec.Command("bash", "-c", bin+"/moduleproxy -checkout "+top+" "+bin+"/xcaddy "+line)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "CADDY_VERSION="+caddy, "XCADDY_SETCAP=0", "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw",
		"GOPROXY=file://"+modcache+"/cache/download,"+goproxy)
	run(cmd)

	info, err := buildinfo.ReadFile(filepath.Join(work, "caddy"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/gatehouse/gatehouse" && strings.HasPrefix(dep.Version, "v0.") && dep.Replace == nil {
			return
		}
	}
	t.Errorf("built without the module as a version of its own: %v", info.Deps)
}
