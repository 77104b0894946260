package audit

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table of the audit trail has every event, and nothing else.
func TestOperationsPageListsTheEvents(t *testing.T) {
	page, err := os.ReadFile("../../../deploy/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n### The audit trail\n")
	table, _, _ = strings.Cut(table, "\n## ")
	_, table, _ = strings.Cut(table, "| `event` |")
	var documented, recorded []string
	code := regexp.MustCompile("`([a-z_]+)`")
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
				documented = append(documented, m[1])
			}
		}
	}
	for _, name := range Names {
		recorded = append(recorded, string(name))
	}
	slices.Sort(documented)
	slices.Sort(recorded)
	if !slices.Equal(documented, recorded) {
		t.Errorf("the page has\n%v\nand the trail records\n%v", documented, recorded)
	}
}
