package directorytest

import (
	"slices"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
)

const (
	rounds = 7
	// A left-out hash shows as nearly the whole of the time, so these bounds find
	// it and still hold on a build machine that others use as well.
	tolerance = 0.25
	noise     = 200 * time.Microsecond
	attempts  = 5
)

// sameTime compares the quickest of interleaved samples: whatever else the machine
// does can only add to a sample.
func sameTime(t *testing.T, d directory.Directory) {
	kinds := []struct{ name, username, password string }{
		{"wrong password", "ann", "not the password"},
		{"unknown user", "nobody", "not the password"},
		{"locked user, right password", "lars", lockedPassword},
		{"locked user, wrong password", "lars", "not the password"},
	}
	mustRefuse(t, d, "ann", "the first call may open things")
	for attempt := 1; ; attempt++ {
		samples := make([][]time.Duration, len(kinds))
		for range rounds {
			for i, k := range kinds {
				begun := time.Now()
				if _, _, err := d.Identify(t.Context(), k.username); err != nil {
					t.Fatal(err)
				}
				mustRefuse(t, d, k.username, k.password)
				samples[i] = append(samples[i], time.Since(begun))
			}
		}
		quickest := make([]time.Duration, len(kinds))
		for i := range kinds {
			quickest[i] = slices.Min(samples[i])
		}
		if alike(quickest) {
			return
		}
		if attempt == attempts {
			for i, k := range kinds {
				t.Errorf("%s: %v at best", k.name, quickest[i])
			}
			return
		}
	}
}

func alike(times []time.Duration) bool {
	least, most := slices.Min(times), slices.Max(times)
	return most-least <= noise || float64(most-least) < tolerance*float64(most)
}
