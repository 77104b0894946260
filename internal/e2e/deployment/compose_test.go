package deployment

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// What `docker compose config` would refuse, its own loader refuses here. That containers start is not tested: there
// is no Docker in a registry of packages.
func TestDockerComposeAcceptsTheFile(t *testing.T) {
	const variables = "GATEHOUSE_SECRET REDIS_PASSWORD NIGHTLY_SECRET GRAFANA_PASSWORD"
	program := checker(t, "compose")
	original, err := os.ReadFile(filepath.Join(top, "deploy", "compose.yaml"))
	harness.FailOn(t, err)
	read := func(t *testing.T, text, variables string) (string, error) {
		file := filepath.Join(t.TempDir(), "compose.yaml")
		harness.FailOn(t, os.WriteFile(file, []byte(text), 0o600))
		cmd := exec.Command(program, file)
		for name := range strings.FieldsSeq(variables) {
			cmd.Env = append(cmd.Env, name+"=a-secret")
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := read(t, string(original), variables)
	if err != nil || len(strings.Fields(out)) != 8 {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := read(t, string(original), "REDIS_PASSWORD"); err == nil || !strings.Contains(out, "the comment at the top says how to make one") {
		t.Errorf("without secrets: %v, %s", err, out)
	}
	for part, by := range map[string]string{
		"read_only: true":            "readonly: true",
		"stop_grace_period: 45s":     "stop_grace_period: soon",
		"depends_on: [prometheus]":   "depends_on: [prometeus]",
		`"grafana:/var/lib/grafana"`: `"graphana:/var/lib/grafana"`,
		"source: redis":              "source: valkey",
		"test: [":                    "tests: [",
		"127.0.0.1:9090:9090":        "127.0.0.1:9090:http",
	} {
		t.Run(by, func(t *testing.T) {
			text := strings.Replace(string(original), part, by, 1)
			if text == string(original) {
				t.Fatal("the file has no", part)
			}
			if out, err := read(t, text, variables); err == nil {
				t.Errorf("accepted: %s", out)
			}
		})
	}
}
