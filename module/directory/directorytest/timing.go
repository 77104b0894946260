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
	attempts  = 3
)

// sameTime compares the medians of interleaved samples, because a machine that
// slows down in the middle then slows every kind alike.
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
				mustRefuse(t, d, k.username, k.password)
				samples[i] = append(samples[i], time.Since(begun))
			}
		}
		medians := make([]time.Duration, len(kinds))
		for i := range kinds {
			medians[i] = median(samples[i])
		}
		if alike(medians) {
			return
		}
		if attempt == attempts {
			for i, k := range kinds {
				t.Errorf("%s: median %v", k.name, medians[i])
			}
			return
		}
	}
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

func alike(medians []time.Duration) bool {
	least, most := slices.Min(medians), slices.Max(medians)
	return most-least <= noise || float64(most-least) < tolerance*float64(most)
}
