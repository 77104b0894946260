package monitoring

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// prometheus is a Prometheus with the rules that are delivered.
type prometheus struct{ address string }

const deploy = "../../../deploy/"

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, file))
	harness.FailOn(t, err)
	return string(text)
}

var (
	durations = regexp.MustCompile(`\[\d+[smhd]\]`)
	waits     = regexp.MustCompile(`(?m)^ +for: .*\n`)
)

// hurried makes rules look at the last minute and fire at once.
func hurried(rules string) string {
	return waits.ReplaceAllString(durations.ReplaceAllString(rules, "[1m]"), "")
}

// startPrometheus starts one that scrapes a gateway every two seconds, with the configuration and
// the rules of deploy but for their times.
func startPrometheus(t *testing.T, target string) *prometheus {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("Prometheus is not installed: run ./xcaddy.sh test in the top folder, which does that first: ", err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		harness.FailOn(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("recording.yaml", hurried(read(t, "prometheus/recording.yaml")))
	write("alerts.yaml", hurried(read(t, "prometheus/alerts.yaml")))
	config := read(t, "prometheus/prometheus.yaml")
	for _, change := range []struct{ from, to string }{
		{`_interval: \w+`, "_interval: 2s"},
		{`scrape_timeout: \w+`, "scrape_timeout: 2s"},
		{`targets: \[.*\]`, "targets: [" + target + "]"},
	} {
		r := regexp.MustCompile(change.from)
		if !r.MatchString(config) {
			t.Fatalf("the configuration has no %s", change.from)
		}
		config = r.ReplaceAllString(config, change.to)
	}
	write("prometheus.yaml", config)
	p := &prometheus{address: fmt.Sprintf("127.0.0.1:%d", harness.FreePorts(t, 1)[0])}
	child := harness.StartChild(t, exec.Command(program, "--config.file="+filepath.Join(dir, "prometheus.yaml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+p.address, "--log.level=warn"))
	t.Cleanup(child.Kill)
	child.Await(t, time.Minute, func() bool {
		res, err := http.Get("http://" + p.address + "/-/ready")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return p
}

// get calls the API of Prometheus.
func (p *prometheus) get(path string, data any) error {
	res, err := http.Get("http://" + p.address + "/api/v1/" + path)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s", answer.Error)
	}
	return nil
}

// query returns the values of a query by the labels of their series. Those that are not numbers are
// left out.
func (p *prometheus) query(expr string) (map[string]float64, error) {
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any
		}
	}
	if err := p.get("query?"+url.Values{"query": {expr}}.Encode(), &data); err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for _, r := range data.Result {
		text, _ := r.Value[1].(string)
		if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) {
			values[fmt.Sprint(r.Metric)] = v
		}
	}
	return values, nil
}

// firing returns the names of the alerts that fire.
func (p *prometheus) firing(t *testing.T) map[string]bool {
	t.Helper()
	var data struct {
		Alerts []struct {
			State  string
			Labels map[string]string
		}
	}
	harness.FailOn(t, p.get("alerts", &data))
	names := map[string]bool{}
	for _, a := range data.Alerts {
		if a.State == "firing" {
			names[a.Labels["alertname"]] = true
		}
	}
	return names
}

// eventually asks until nothing is missing any more.
func eventually(t *testing.T, what string, missing func() string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		m := missing()
		if m == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%s: %s", what, strings.TrimSpace(m))
			return
		}
	}
}
