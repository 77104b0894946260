package directorytest

import (
	"slices"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
)

const (
	rounds = 7
	// A left-out hash shows as nearly the whole of the time, so this and noise find
	// it and still hold on a build machine that others use as well.
	tolerance = 0.25
	attempts  = 20
)

// sameTime compares interleaved samples of each of the two steps of a sign-in. Whatever else the machine does can only add
// to a sample, so the quickest samples are alike, or on a machine without a quiet moment those in the middle. More samples
// are taken until they are.
func sameTime(t *testing.T, d directory.Directory) {
	kinds := []struct{ name, username, password string }{
		{"wrong password", "ann", "not the password"},
		{"unknown user", "nobody", "not the password"},
		{"locked user, right password", "lars", lockedPassword},
		{"locked user, wrong password", "lars", "not the password"},
	}
	mustRefuse(t, d, "ann", "the first call may open things")
	identify, refuse := make([][]time.Duration, len(kinds)), make([][]time.Duration, len(kinds))
	for attempt := 1; ; attempt++ {
		for range rounds {
			for i, k := range kinds {
				begun := time.Now()
				if _, _, err := d.Identify(t.Context(), k.username); err != nil {
					t.Fatal(err)
				}
				identified := time.Now()
				mustRefuse(t, d, k.username, k.password)
				refuse[i] = append(refuse[i], time.Since(identified))
				identify[i] = append(identify[i], identified.Sub(begun))
			}
		}
		if takeTheSameTime(identify) && takeTheSameTime(refuse) {
			return
		}
		if attempt == attempts {
			for i, k := range kinds {
				t.Errorf("%s: identified in %v at best, %v in the middle; refused in %v at best, %v in the middle", k.name,
					slices.Min(identify[i]), median(identify[i]), slices.Min(refuse[i]), median(refuse[i]))
			}
			return
		}
	}
}

func takeTheSameTime(samples [][]time.Duration) bool {
	quickest, middle := make([]time.Duration, len(samples)), make([]time.Duration, len(samples))
	for i, s := range samples {
		quickest[i], middle[i] = slices.Min(s), median(s)
	}
	return alike(quickest) || alike(middle)
}

func alike(times []time.Duration) bool {
	least, most := slices.Min(times), slices.Max(times)
	return most-least <= noise || float64(most-least) < tolerance*float64(most)
}

func median(samples []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[len(sorted)/2]
}
