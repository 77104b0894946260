package quickstart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S09: the first lines of `./xcaddy.sh run`, with programs in the place of go and xcaddy that
// build nothing.
func TestRunReportsWhatIsBuiltAndHowLong(t *testing.T) {
	script, err := os.ReadFile("../../../xcaddy.sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"xcaddy.sh":                  string(script),
		"examples/quickstart/run.sh": "#!/bin/sh\necho the example runs\n",
		".ci/tools/go.mod":           "",
		".build/tools/moduleproxy":   "#!/bin/sh\nexec \"$@\"\n",
		"bin/xcaddy":                 "#!/bin/sh\necho no module proxy >&2\nexit 1\n",
		"bin/go":                     "#!/bin/sh\necho v2.0.0\n",
	} {
		harness.FailOn(t, harness.WriteProgram(filepath.Join(dir, name), []byte(text)))
	}
	// A tool that is newer than its source is not built again.
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, ".build/tools/moduleproxy"), later, later); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", filepath.Join(dir, "xcaddy.sh"), "run")
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	said := strings.Split(string(out), "\n")
	if !strings.Contains(said[0], "building ./caddy") || !strings.Contains(said[0], "2 to 5 minutes") {
		t.Errorf("the first line: %s", said[0])
	}
	if !strings.Contains(string(out), "with go build instead of xcaddy") || strings.Contains(string(out), "could not") || strings.Contains(string(out), "no module proxy") {
		t.Errorf("the fall-back alarms: %s", out)
	}
	if !strings.Contains(string(out), "the example runs") {
		t.Errorf("%s", out)
	}
}
