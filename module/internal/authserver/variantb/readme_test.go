package variantb

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The table of errors is for those who write a site: it has every failure, with its status
// and both codes.
func TestVariantBDocsListEveryFailure(t *testing.T) {
	text, err := os.ReadFile("../../../oauth/variant-b.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Errors\n")
	for _, want := range faults {
		found := false
		for row := range strings.Lines(table) {
			cells := strings.Split(row, "|")
			found = found || len(cells) == 6 && strings.Contains(cells[2], fmt.Sprint(want.status)) &&
				strings.TrimSpace(cells[3]) == want.code && strings.TrimSpace(cells[4]) == fmt.Sprint(want.errcode)
		}
		if !found {
			t.Errorf("%s (%d, %s, %d) is in no row", want.message, want.status, want.code, want.errcode)
		}
	}
}
