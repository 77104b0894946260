package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// The commands of the README's section, as they stand there, one after the other.
func TestReadmeCommandsWork(t *testing.T) {
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## Managing users, clients and keys\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !ok {
		t.Fatal("the section is gone")
	}
	_, caddyfile, ok := strings.Cut(string(text), "\n```caddyfile\n")
	caddyfile, _, _ = strings.Cut(caddyfile, "\n```")
	if !ok {
		t.Fatal("the Caddyfile is gone")
	}
	g := startSite(t, strings.NewReplacer(`scope read "Read"`, `scope read "Read"`+"\n\t\t"+`scope articles:read "Read articles"`).Replace(site))
	bin := t.TempDir()
	if err := os.Symlink(absolute(t, harness.Program(t)), filepath.Join(bin, "caddy")); err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	_, access := clientToken(t, g, machine)
	for name, content := range map[string]string{"Caddyfile": caddyfile, "password.txt": password + "\n", "token.txt": access + "\n"} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for line := range strings.Lines(section) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !ok {
			continue
		}
		n++
		cmd := exec.Command("bash", "-c", line)
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "CADDY_ADMIN="+strings.TrimPrefix(g.Admin, "http://"))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil || out.Len() == 0 {
			t.Errorf("%s: %v: %s", line, err, &out)
		}
	}
	if n < 15 {
		t.Errorf("only %d commands", n)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
