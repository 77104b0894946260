package lifecycle

import (
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

func counter(t *testing.T, scrape, series string) float64 {
	t.Helper()
	for line := range strings.SplitSeq(scrape, "\n") {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return 0
}

func body(t *testing.T, address string) string {
	t.Helper()
	status, text := harness.Get(t, address)
	if status != 200 {
		t.Fatalf("%s: %d", address, status)
	}
	return text
}
