package deployment

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// The container has the name by which the page calls it.
func TestContainersPageNamesTheContainer(t *testing.T) {
	page := read(t, filepath.Join(top, "deploy", "containers.md"))
	called := regexp.MustCompile(`docker exec (\S+)`).FindStringSubmatch(page)
	if called == nil || !strings.Contains(page, "$ docker run --name "+called[1]+" ") {
		t.Errorf("no container is named as in %v", called)
	}
}

// An image cannot be built everywhere. What its file says can be held against the program.
func TestImageMatchesTheProgram(t *testing.T) {
	file := read(t, filepath.Join(top, "deploy", "Dockerfile"))
	stages := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(file, -1)
	last := file[strings.LastIndex(file, "\nFROM "):]
	if len(stages) != 3 || !strings.HasSuffix(stages[2][1], ":nonroot") || strings.Contains(last, "legacy") {
		t.Errorf("the image is made of %v, last:%s", stages, last)
	}
	for _, want := range []string{`VOLUME ["/data", "/config"]`, "XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config", "EXPOSE 80 443 443/udp", "org.opencontainers.image.source="} {
		if !strings.Contains(last, want) {
			t.Errorf("the image has no %s", want)
		}
	}
	health := regexp.MustCompile(`HEALTHCHECK .*CMD (\[.*\])`).FindStringSubmatch(last)
	if health == nil {
		t.Fatal("the image has no health check")
	}
	var words []string
	harness.FailOn(t, json.Unmarshal([]byte(health[1]), &words))
	out, err := exec.CommandContext(t.Context(), harness.Program(t), append(words[1:], "--help")...).CombinedOutput()
	if err != nil || words[0] != "/usr/bin/caddy" || !strings.Contains(string(out), "whether this node can serve") {
		t.Errorf("%v: %v\n%s", words, err, out)
	}
}
