package deployment

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

var unit = filepath.Join("..", "..", "..", "deploy", "gatehouse.service")

// systemd rates a unit from 0 (locked up) to 10 (all doors open).
func TestSystemdUnitIsHardened(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", unit).CombinedOutput()
	if err != nil {
		t.Errorf("the exposure is above 2.0: %v\n%s", err, out)
	}
}

// The unit as it is, with another program and another configuration, has no mistake that systemd would report.
func TestSystemdUnitIsValid(t *testing.T) {
	program, err := filepath.Abs(harness.Program(t))
	harness.FailOn(t, err)
	file := filepath.Join(t.TempDir(), "gatehouse.service")
	text := strings.ReplaceAll(read(t, unit), "/usr/local/bin/caddy", program)
	harness.FailOn(t, os.WriteFile(file, []byte(text), 0o600))
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", file).CombinedOutput()
	if err != nil || strings.Contains(string(out), "gatehouse.service") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The state is where XDG_DATA_HOME says, which only the unit sets: commands that work on the files of a stopped gateway
// need the same.
func TestSystemdCommandsUseTheUnitsEnvironment(t *testing.T) {
	home := regexp.MustCompile(`(?m)^Environment=.*(XDG_DATA_HOME=\S+)`).FindStringSubmatch(read(t, unit))
	file := regexp.MustCompile(`(?m)^EnvironmentFile=-?(\S+)`).FindStringSubmatch(read(t, unit))
	if home == nil || file == nil {
		t.Fatal("the unit sets no XDG_DATA_HOME, or has no file for its environment")
	}
	page := read(t, filepath.Join(top, "deploy", "README.md"))
	commands := regexp.MustCompile(`(?m)^(.*)\n\$ caddy gatehouse (?:restore|move) `).FindAllStringSubmatch(page, -1)
	if len(commands) != 2 {
		t.Errorf("the page shows %d commands", len(commands))
	}
	for _, c := range commands {
		if want := "$ set -a; . " + file[1] + "; " + home[1]; c[1] != want {
			t.Errorf("before %q: %q, want %q", strings.TrimSpace(c[0]), c[1], want)
		}
	}
}

// Type=notify: systemd is told when the gateway serves, when it reloads, and when it stops. The environment is the
// unit's, with other folders.
func TestSystemdIsNotifiedOfEachState(t *testing.T) {
	dir, address := t.TempDir(), fmt.Sprintf("localhost:%d", harness.FreePorts(t, 1)[0])
	socket := filepath.Join(dir, "notify")
	told, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	harness.FailOn(t, err)
	defer func() { _ = told.Close() }()

	admin := filepath.Join(dir, "admin.sock")
	file := filepath.Join(dir, "Caddyfile")
	write := func(answer string) {
		harness.FailOn(t, os.WriteFile(file, []byte("{\n\tadmin unix/"+admin+"\n\tgatehouse {\n\t\tissuer http://"+address+"\n\t}\n}\nhttp://"+address+" {\n\trespond "+answer+"\n}\n"), 0o600))
	}
	write("first")
	environment := append(os.Environ(), "NOTIFY_SOCKET="+socket)
	for _, m := range regexp.MustCompile(`(?m)^Environment=(.*)$`).FindAllStringSubmatch(read(t, unit), -1) {
		environment = append(environment, strings.Fields(strings.ReplaceAll(m[1], "/var/lib/gatehouse", dir))...)
	}
	command := func(words ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), harness.Program(t), words...)
		cmd.Env = environment
		return cmd
	}
	gateway := harness.StartChild(t, command("run", "--config", file))
	defer gateway.Kill()
	await(t, gateway, told, "READY=1")
	if _, err := os.Stat(filepath.Join(dir, "caddy", "gatehouse", "state.db")); err != nil {
		t.Errorf("the state is not in the unit's folder: %v", err)
	}
	write("second")
	out, err := command("reload", "--config", file, "--address", "unix/"+admin, "--force").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	await(t, gateway, told, "RELOADING=1")
	await(t, gateway, told, "READY=1")
	harness.FailOn(t, gateway.Cmd.Process.Signal(os.Interrupt))
	await(t, gateway, told, "STOPPING=1")
	<-gateway.Done
}

// await reads datagrams until one has the line.
func await(t *testing.T, gateway *harness.Child, told *net.UnixConn, line string) {
	t.Helper()
	harness.FailOn(t, told.SetReadDeadline(time.Now().Add(time.Minute)))
	for buffer := make([]byte, 4096); ; {
		n, err := told.Read(buffer)
		if err != nil {
			t.Fatalf("no %s: %v\n%s", line, err, gateway.Out)
		}
		if strings.Contains("\n"+string(buffer[:n])+"\n", "\n"+line+"\n") {
			return
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	harness.FailOn(t, err)
	return string(text)
}
