package book

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/console"
	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestBookPages(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/howto/*.md")
	harness.FailOn(t, err)
	for _, page := range append(pages, "../../../docs/tutorial.md") {
		name, _ := strings.CutPrefix(filepath.ToSlash(page), "../../../")
		t.Run(name, func(t *testing.T) { follow(t, name) })
	}
}

// follow does what a page says in an empty folder that has caddy in it.
func follow(t *testing.T, name string) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("../../..", name))
	harness.FailOn(t, err)
	page, env := onOtherPorts(t, string(raw))
	dir, data := t.TempDir(), t.TempDir()
	harness.FailOn(t, os.Symlink(harness.Program(t), filepath.Join(dir, "caddy")))
	env = append(append(os.Environ(), "XDG_DATA_HOME="+data, "XDG_CONFIG_HOME="+data, "HOME="+data), env...)
	console.Follow(t, name, page, dir, env)
}

// pagePort matches the ports that pages write.
var pagePort = regexp.MustCompile(`\b(2019|2020|6379|8080|8081|8082|9000)\b`)

// onOtherPorts puts free ports in the place of those of a page, so that pages can run side by side.
func onOtherPorts(t *testing.T, page string) (string, []string) {
	t.Helper()
	free := map[string]string{"2019": ""} // the admin endpoint, on every page
	for _, p := range pagePort.FindAllString(page, -1) {
		free[p] = ""
	}
	ports := harness.FreePorts(t, len(free))
	for p := range free {
		free[p], ports = strconv.Itoa(ports[0]), ports[1:]
	}
	return pagePort.ReplaceAllStringFunc(page, func(p string) string { return free[p] }), []string{"CADDY_ADMIN=localhost:" + free["2019"]}
}
