package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

func TestPagesNameCommandsThatExist(t *testing.T) {
	root := &cobra.Command{Use: "gatehouse"}
	caddycmd.Commands()["gatehouse"].CobraFunc(root)
	named, found := regexp.MustCompile(`caddy\s+gatehouse\s+([a-z-]+)(?:\s+([a-z-]+))?`), 0
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range named.FindAllStringSubmatch(string(page), -1) {
			found++
			if !exists(root, m[1], m[2]) {
				t.Errorf("%s: there is no %q", path, strings.Join(strings.Fields(m[0]), " "))
			}
		}
		return nil
	})
	if err != nil || found < 50 {
		t.Errorf("%d commands found, %v", found, err)
	}
}

// exists reports whether there is such a command. What follows a command without others below it is not looked at.
func exists(root *cobra.Command, name, below string) bool {
	for _, c := range root.Commands() {
		if c.Name() == name {
			return below == "" || !c.HasSubCommands() || exists(c, below, "")
		}
	}
	return false
}
