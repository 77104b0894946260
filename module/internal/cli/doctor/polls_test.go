package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

func TestDoctorFindsTimeoutsThatCutPolls(t *testing.T) {
	for name, c := range map[string]struct {
		handler  string
		limit    time.Duration
		variantB bool
		want     bool
	}{
		"a short limit":         {"gatehouse_server", 20 * time.Second, true, true},
		"a long one":            {"gatehouse_server", 30 * time.Second, true, false},
		"none":                  {"gatehouse_server", 0, true, false},
		"another server":        {"gatehouse_guard", 20 * time.Second, true, false},
		"nobody who would poll": {"gatehouse_server", 20 * time.Second, false, false},
	} {
		text := fmt.Sprintf(`{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{"servers":{"s":{"listen":[":443"],"write_timeout":%d,"routes":[{"handle":[{"handler":%q}]}]}}}}}`,
			c.limit, c.handler)
		all, err := Configuration([]byte(text), adminapi.Examination{Issuer: "https://id.example", VariantB: c.variantB})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range all {
			found = found || f.Check == "polls" && f.Grade == "warn" && strings.Contains(f.Message, "20s")
		}
		if found != c.want {
			t.Errorf("%s: %+v", name, all)
		}
	}
}
