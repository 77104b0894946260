package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// composeFile is what this test knows of deploy/compose.yaml.
type composeFile struct {
	Services map[string]struct {
		Command     []string
		Environment map[string]string
		Volumes     []string
		Build       struct{ Context, Dockerfile, Target string }
		ReadOnly    bool `yaml:"read_only"`
		Configs     []struct{ Source, Target string }
	}
	Configs map[string]struct{ Content string }
}

var deploy = filepath.Join(top, "deploy")

// readYAML reads a file of the folder deploy.
func readYAML[T any](t *testing.T, name string) (content T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, name))
	if err == nil {
		err = yaml.Unmarshal(text, &content)
	}
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Compose writes the content of a config into the container, which it refuses where the file system is read-only.
func TestReadOnlyServicesHaveNoInlineConfigs(t *testing.T) {
	c := readYAML[composeFile](t, "compose.yaml")
	readOnly := 0
	for name, s := range c.Services {
		if !s.ReadOnly {
			continue
		}
		readOnly++
		for _, config := range s.Configs {
			if c.Configs[config.Source].Content != "" {
				t.Errorf("%s is read-only and has the config %s", name, config.Source)
			}
		}
	}
	if readOnly < 7 || len(c.Services["redis"].Configs) != 1 {
		t.Errorf("%d services are read-only, and Redis has %v", readOnly, c.Services["redis"].Configs)
	}
	source := readYAML[struct{ Datasources []struct{ Type, URL string } }](t, "grafana/datasource.yaml").Datasources
	if len(source) != 1 || source[0].Type != "prometheus" || source[0].URL != "http://prometheus:9090" {
		t.Errorf("Grafana reads %v", source)
	}
	if !slices.Contains(c.Services["grafana"].Volumes, "./grafana/datasource.yaml:/etc/grafana/provisioning/datasources/prometheus.yaml:ro") {
		t.Errorf("Grafana has %v", c.Services["grafana"].Volumes)
	}
}

// Containers cannot be started everywhere. What they would run can be checked: that each
// configuration is whole with the environment it is given, and names services there are.
func TestComposeFileRunsTheExample(t *testing.T) {
	c := readYAML[composeFile](t, "compose.yaml")
	program, err := filepath.Abs(harness.Program(t))
	if err != nil {
		t.Fatal(err)
	}
	// A variable that must be set stands for a secret.
	secrets := regexp.MustCompile(`\$\{\w+:\?[^}]*\}`)
	containers := regexp.MustCompile(`\b([a-z]+\d?):\d`)
	configurations := map[string]string{"node1": "Caddyfile", "node2": "Caddyfile", "node3": "Caddyfile", "balancer": "balancer.Caddyfile"}
	for name, file := range configurations {
		s := c.Services[name]
		if len(s.Command) > 0 && s.Command[len(s.Command)-1] != "/etc/gatehouse/"+file {
			t.Errorf("%s runs %v", name, s.Command)
		}
		if len(s.Volumes) != 1 || s.Volumes[0] != "../examples/cluster:/etc/gatehouse:ro" {
			t.Errorf("%s has %v", name, s.Volumes)
		}
		if _, err := os.Stat(filepath.Join(deploy, s.Build.Context, s.Build.Dockerfile)); err != nil {
			t.Error(err)
		}
		dir := t.TempDir()
		env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		used := make(map[string]bool)
		for key, value := range s.Environment {
			for _, m := range containers.FindAllStringSubmatch(value, -1) {
				if _, there := c.Services[m[1]]; !there {
					t.Errorf("%s: %s names %s, which is no service", name, key, m[1])
				}
			}
			used[key] = true
			env = append(env, key+"="+secrets.ReplaceAllString(value, "a-secret-of-forty-characters-0123456789-0"))
		}
		config, err := os.ReadFile(filepath.Join(top, "examples", "cluster", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\{\$(\w+):|\{env\.(\w+)\}`).FindAllStringSubmatch(string(config), -1) {
			// Each container has its own loopback address for the admin endpoint.
			if key := m[1] + m[2]; key != "ADMIN" && !used[key] {
				t.Errorf("%s is not told %s", name, key)
			}
		}
		cmd := exec.CommandContext(t.Context(), program, "validate", "--config", file, "--adapter", "caddyfile")
		cmd.Dir, cmd.Env = filepath.Join(top, "examples", "cluster"), append(env, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	for name, s := range c.Services {
		for _, volume := range s.Volumes {
			if from, _, _ := strings.Cut(volume, ":"); strings.HasPrefix(from, ".") {
				if _, err := os.Stat(filepath.Join(deploy, from)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	prometheus, err := os.ReadFile(filepath.Join(deploy, "prometheus", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range configurations {
		if port := c.Services[name].Environment["METRICS_PORT"]; port != "" && !strings.Contains(string(prometheus), `"`+name+":"+port+`"`) {
			t.Errorf("Prometheus does not scrape %s", name)
		}
	}
	for _, want := range []string{"requirepass ${REDIS_PASSWORD}", "appendonly yes", "maxmemory-policy noeviction"} {
		if !strings.Contains(c.Configs["redis"].Content, want) {
			t.Errorf("Redis is not told %s", want)
		}
	}
}
