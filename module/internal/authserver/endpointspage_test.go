package authserver

import (
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatehouse/gatehouse/module/internal/authserver/registration"
)

// The page about endpoints has every path of the table with its methods, and nothing else.
func TestEndpointsPageListsTheRouteTable(t *testing.T) {
	page, err := os.ReadFile("../../../docs/endpoints.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## The authorization server\n")
	section, _, _ = strings.Cut(section, "\n## ")
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\|").FindAllStringSubmatch(section, -1) {
		path, _, _ := strings.Cut(row[1], "{") // a folder of whatever names
		documented[path] = row[2]
	}
	s := &Server{Config: Config{Issuer: new(url.URL), Registration: new(registration.Rules)}}
	served := map[string]string{}
	for path, rt := range s.table() {
		served[path] = "any"
		if rt.methods != nil {
			served[path] = strings.Join(rt.methods, ", ")
		}
	}
	if diff := cmp.Diff(served, documented); diff != "" {
		t.Error("- the table of routes, + the page:\n" + diff)
	}
}
