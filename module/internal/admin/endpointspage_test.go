package admin

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// The page about endpoints and the module's page on Caddy's website have every path of the table with
// its methods, and nothing else.
func TestEndpointPagesListTheRouteTable(t *testing.T) {
	served := map[string]string{}
	for _, rt := range routes {
		_, _, methods := findRoute(rt.method, adminapi.Base+strings.ReplaceAll(rt.path, "*", "any"))
		served[adminapi.Base+rt.path] = strings.Join(methods, ", ")
	}
	variable := regexp.MustCompile(`\{\w+\}`)
	for file, row := range map[string]string{
		"../../../docs/endpoints.md": "(?m)^\\| `(/gatehouse/[^`]+)` \\| ([A-Z, ]+) \\|",
		"../../gateway/admin.go":     "(?m)^// `(/gatehouse/[^`]+)` \\| ([A-Z, ]+) \\|",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		documented := map[string]string{}
		for _, m := range regexp.MustCompile(row).FindAllStringSubmatch(string(text), -1) {
			methods := strings.Split(m[2], ", ")
			slices.Sort(methods)
			documented[variable.ReplaceAllString(m[1], "*")] = strings.Join(methods, ", ")
		}
		if diff := cmp.Diff(served, documented); diff != "" {
			t.Errorf("- the table of routes, + %s:\n%s", file, diff)
		}
	}
}
