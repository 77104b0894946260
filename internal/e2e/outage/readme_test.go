package outage

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The Caddyfiles of the pages about many nodes are ones.
func TestMultiNodeDocsCaddyfilesAreValid(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```caddyfile\n(.*?)```")
	g, _, _, _ := prepare(t)
	t.Setenv("GATEHOUSE_SECRET", masterSecret)
	t.Setenv("REDIS_PASSWORD", "a password")
	for _, page := range []string{"README.md", "deploy/README.md"} {
		text, err := os.ReadFile("../../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, block := range blocks.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(block[1], "redis") {
				n++
				if err := validate(t, g, block[1]); err != nil {
					t.Errorf("%s: %v", page, err)
				}
			}
		}
		if n == 0 {
			t.Errorf("%s says nothing of Redis", page)
		}
	}
}
