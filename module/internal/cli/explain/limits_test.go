package explain

import (
	"testing"
	"time"
)

func TestDurationsAreFormattedShortly(t *testing.T) {
	for want, seconds := range map[string]int{"1s": 1, "1m": 60, "1m30s": 90, "1h": 3600, "1h1m": 3660, "24h": 86400, "10m": 600, "10h": 36000, "1h0m5s": 3605} {
		if got := shortDuration(time.Duration(seconds) * time.Second); got != want {
			t.Errorf("%d s: %s, want %s", seconds, got, want)
		}
	}
}
