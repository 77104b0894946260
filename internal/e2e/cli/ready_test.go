package cli

import (
	"regexp"
	"testing"
)

func TestReadyReportsEachPart(t *testing.T) {
	g := startSite(t, site)
	out := done(t, g, "", "ready")
	for _, part := range []string{"store", "keys", "revocations"} {
		if !regexp.MustCompile(`(?m)^` + part + ` +ok`).MatchString(out) {
			t.Errorf("no line of a working %s: %s", part, out)
		}
	}
}
