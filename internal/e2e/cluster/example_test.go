package cluster

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/example"
)

// top is the top folder, as tests here see it.
var top = filepath.Join("..", "..", "..")

func TestExampleREADMEWorksLineByLine(t *testing.T) {
	e := example.Start(t, "cluster", "legacy")
	said := e.Walk(t)
	// The count goes on while nodes change and die.
	example.Promised(t, strings.ToLower(said),
		"remaining: 999", "remaining: 998", "remaining: 997", "remaining: 996", "remaining: 995", "remaining: 994", "remaining: 993",
		`"ready"`, "401", "401", "401", "gatehouse:",
	)
	before, after, _ := strings.Cut(said, "Remaining: 997")
	for n, text := range map[int]string{3: before, 2: after[:strings.Index(after, `"ready"`)]} {
		answered := make(map[string]bool)
		for _, m := range regexp.MustCompile(`(?i)x-node: (\d)`).FindAllStringSubmatch(text, -1) {
			answered[m[1]] = true
		}
		if len(answered) != n || n == 2 && answered["2"] {
			t.Errorf("answered by %v, of %d nodes", answered, n)
		}
	}
	e.Private(t, "state/env", "state/redis.conf")
	for _, name := range []string{"NIGHTLY_SECRET", "GATEHOUSE_SECRET", "REDIS_PASSWORD"} {
		e.Unwritten(t, e.Secret(t, name))
	}
}

func TestExampleReportsATakenPort(t *testing.T) {
	example.Copy(t, "cluster", "legacy").RefusesTakenPorts(t)
}
