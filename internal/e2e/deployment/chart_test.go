package deployment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

var top = filepath.Join("..", "..", "..")

// manifest is what these tests look at in an object of Kubernetes. That its other fields exist is checked
// by the program which renders it.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		Replicas     int
		MinAvailable int
		Template     struct {
			Spec struct {
				AutomountServiceAccountToken  *bool
				TerminationGracePeriodSeconds int
				Containers                    []struct {
					Image           string
					Env, EnvFrom    json.RawMessage
					Ports           []struct{ Name string }
					SecurityContext struct{ ReadOnlyRootFilesystem bool }
					ReadinessProbe  struct {
						HTTPGet       struct{ Path, Port string }
						PeriodSeconds int
					}
				}
			}
		}
	}
}

// checker builds a program of .ci: chart renders the chart and checks what comes out, compose reads a compose file.
func checker(t *testing.T, name string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	build := exec.Command("go", "build", "-trimpath", "-o", program, ".")
	build.Dir, build.Env = filepath.Join(top, ".ci", name), append(os.Environ(), "CGO_ENABLED=0") // as xcaddy.sh builds
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// render returns the manifests of the chart by kind and name.
func render(t *testing.T, program, values string) (map[string]manifest, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	harness.FailOn(t, os.WriteFile(file, []byte(values), 0o600))
	var out, problems bytes.Buffer
	cmd := exec.Command(program, "-values", file, filepath.Join(top, "deploy", "helm", "gatehouse"))
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, &problems)
	}
	all := make(map[string]manifest)
	for lines := json.NewDecoder(&out); lines.More(); {
		var m manifest
		harness.FailOn(t, lines.Decode(&m))
		all[m.Kind+" "+m.Metadata.Name] = m
	}
	return all, nil
}

// pageValues are the values that the page shows.
func pageValues(t *testing.T) string {
	t.Helper()
	_, values, ok := strings.Cut(read(t, filepath.Join(top, "deploy", "containers.md")), "\n```yaml\n")
	values, _, _ = strings.Cut(values, "```\n")
	if !ok {
		t.Fatal("containers.md shows no values")
	}
	return values
}

// The chart with the values of the page makes what the page says, and its configuration serves: with a real Redis, on other ports.
func TestChartRunsGateways(t *testing.T) {
	all, err := render(t, checker(t, "chart"), pageValues(t)+"serviceMonitor:\n  enabled: true\n")
	harness.FailOn(t, err)
	for _, name := range []string{
		"Deployment test-gatehouse", "ServiceAccount test-gatehouse", "Service test-gatehouse", "Service test-gatehouse-metrics", "Ingress test-gatehouse",
		"PodDisruptionBudget test-gatehouse", "NetworkPolicy test-gatehouse", "ServiceMonitor test-gatehouse", "ConfigMap test-gatehouse",
	} {
		if _, ok := all[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
	deployment := all["Deployment test-gatehouse"].Spec
	pod := deployment.Template.Spec
	if deployment.Replicas < 2 || all["PodDisruptionBudget test-gatehouse"].Spec.MinAvailable < 1 || len(pod.Containers) != 1 {
		t.Fatalf("%+v", deployment)
	}
	container := pod.Containers[0]
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken || !container.SecurityContext.ReadOnlyRootFilesystem ||
		container.Image != "registry.example.com/gatehouse:1" || !strings.Contains(string(container.EnvFrom), `"secretRef":{"name":"gatehouse"}`) {
		t.Errorf("%+v", container)
	}
	config := all["ConfigMap test-gatehouse"].Data["Caddyfile"]
	delay := regexp.MustCompile(`shutdown_delay (\d+)s\n\s*grace_period (\d+)s`).FindStringSubmatch(config)
	if delay == nil || container.ReadinessProbe.PeriodSeconds >= number(t, delay[1]) || pod.TerminationGracePeriodSeconds <= number(t, delay[1])+number(t, delay[2]) {
		t.Errorf("a node that ends: %v, asked each %d s, killed after %d s", delay, container.ReadinessProbe.PeriodSeconds, pod.TerminationGracePeriodSeconds)
	}

	redis := redistest.Start(t, "--requirepass", "redis-password")
	dir, ports := t.TempDir(), harness.FreePorts(t, 3)
	config = strings.NewReplacer("redis-master:6379", redis.Addr, ":8080", fmt.Sprintf(":%d", ports[0]), ":9180", fmt.Sprintf(":%d", ports[1]),
		"localhost:2019", fmt.Sprintf("localhost:%d", ports[2]), "shutdown_delay 5s", "shutdown_delay 0s").Replace(config)
	file := filepath.Join(dir, "Caddyfile")
	harness.FailOn(t, os.WriteFile(file, []byte(config), 0o600))
	cmd := exec.CommandContext(t.Context(), harness.Program(t), "run", "--config", file)
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "REDIS_PASSWORD=redis-password",
		"GATEHOUSE_SECRET=0123456789abcdef0123456789abcdef0123456789abcdef", "NIGHTLY_SECRET=fedcba9876543210fedcba9876543210fedcba9876543210")
	gateway := harness.StartChild(t, cmd)
	defer gateway.Kill()
	get := func(port int, host, path string) (status int) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://localhost:%d%s", port, path), nil)
		harness.FailOn(t, err)
		r.Host = host
		r.Header.Set("X-Forwarded-Proto", "https")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	gateway.Await(t, time.Minute, func() bool { return get(ports[1], "", container.ReadinessProbe.HTTPGet.Path) == http.StatusOK })
	for _, c := range []struct {
		port       int
		host, path string
		want       int
	}{
		{ports[1], "", "/live", 200},
		{ports[1], "", "/metrics", 200},
		{ports[0], "id.example.com", "/.well-known/oauth-authorization-server", 200},
		{ports[0], "api.example.com", "/articles", 401},
		{ports[0], "api.example.com", "/metrics", 403}, // no rule has it,
	} {
		if got := get(c.port, c.host, c.path); got != c.want {
			t.Errorf("%s%s: %d, want %d\n%s", c.host, c.path, got, c.want, gateway.Out)
		}
	}
}

// A disruption budget would keep the only node on its machine for ever. The nodes count each other, so that their
// number is right during an update and whoever scales them.
func TestSingleNodeCanBeDrained(t *testing.T) {
	all, err := render(t, checker(t, "chart"), "replicas: 1\n")
	harness.FailOn(t, err)
	if _, ok := all["PodDisruptionBudget test-gatehouse"]; ok || all["Deployment test-gatehouse"].Spec.Replicas != 1 {
		t.Errorf("%v", all)
	}
	if config := all["ConfigMap test-gatehouse"].Data["Caddyfile"]; !strings.Contains(config, "limiter redis\n") || strings.Contains(config, "nodes ") {
		t.Errorf("the configuration fixes the number of nodes:\n%s", config)
	}
}

// Each value that the configuration takes from the environment is in the Secret that the page makes.
func TestContainersPageSecretHasEveryVariable(t *testing.T) {
	all, err := render(t, checker(t, "chart"), pageValues(t))
	harness.FailOn(t, err)
	page := read(t, filepath.Join(top, "deploy", "containers.md"))
	names := regexp.MustCompile(`\{env\.(\w+)\}`).FindAllStringSubmatch(all["ConfigMap test-gatehouse"].Data["Caddyfile"], -1)
	if len(names) < 3 {
		t.Errorf("the configuration takes %v from the environment", names)
	}
	for _, name := range names {
		if !strings.Contains(page, "--from-literal="+name[1]+"=") {
			t.Errorf("the Secret of the page has no %s", name[1])
		}
	}
}

func TestChartRefusesUnworkableValues(t *testing.T) {
	program := checker(t, "chart")
	for values, want := range map[string]string{
		"issuer: http://id.example.com\n":           "issuer",
		"issuer: https://id.example.com:8443\n":     "issuer", // the host would not be that of any site
		"api: https://api.example.com:8443\n":       "api",
		"redis: redis://:password@redis:6379\n":     "redis",
		"replica: 3\n":                              "replica",
		"existingSecret: \"\"\n":                    "existingSecret",
		"config:\n  Caddyfile: \"respond hello\"\n": "Caddyfile",
	} {
		if _, err := render(t, program, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", values, err)
		}
	}
}

func number(t *testing.T, digits string) (n int) {
	t.Helper()
	_, err := fmt.Sscan(digits, &n)
	harness.FailOn(t, err)
	return n
}
