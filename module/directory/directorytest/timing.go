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

// sameTime compares the quickest of interleaved samples, of each of the two steps of a sign-in: whatever else the
// machine does can only add to a sample, so more samples are taken until the quickest are alike.
func sameTime(t *testing.T, d directory.Directory) {
	kinds := []struct{ name, username, password string }{
		{"wrong password", "ann", "not the password"},
		{"unknown user", "nobody", "not the password"},
		{"locked user, right password", "lars", lockedPassword},
		{"locked user, wrong password", "lars", "not the password"},
	}
	mustRefuse(t, d, "ann", "the first call may open things")
	identify, refuse := make([]time.Duration, len(kinds)), make([]time.Duration, len(kinds))
	for attempt := 1; ; attempt++ {
		for range rounds {
			for i, k := range kinds {
				begun := time.Now()
				if _, _, err := d.Identify(t.Context(), k.username); err != nil {
					t.Fatal(err)
				}
				identified := time.Now()
				mustRefuse(t, d, k.username, k.password)
				first, second := identified.Sub(begun), time.Since(identified)
				if identify[i] == 0 || first < identify[i] {
					identify[i] = first
				}
				if refuse[i] == 0 || second < refuse[i] {
					refuse[i] = second
				}
			}
		}
		if alike(identify) && alike(refuse) {
			return
		}
		if attempt == attempts {
			for i, k := range kinds {
				t.Errorf("%s: identified in %v, refused in %v at best", k.name, identify[i], refuse[i])
			}
			return
		}
	}
}

func alike(times []time.Duration) bool {
	least, most := slices.Min(times), slices.Max(times)
	return most-least <= noise || float64(most-least) < tolerance*float64(most)
}
