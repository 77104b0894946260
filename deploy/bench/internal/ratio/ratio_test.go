package ratio

import (
	"math"
	"slices"
	"testing"
)

func TestBaseRunsBesideEverySubject(t *testing.T) {
	for subjects := range 9 {
		for rotation := range 10 {
			order := Schedule(subjects, rotation)
			seen := make(map[int]int)
			for i, who := range order {
				seen[who]++
				if who != Base && order[i-1] != Base && order[i+1] != Base {
					t.Errorf("%v: %d is not beside the base", order, who)
				}
			}
			for s := range subjects {
				if seen[s] != 1 {
					t.Errorf("%v: %d comes %d times", order, s, seen[s])
				}
			}
		}
	}
	if got := Schedule(5, 1); !slices.Equal(got, []int{Base, 1, 2, Base, 3, 4, Base, 0, Base}) {
		t.Error(got)
	}
}

func TestRatioComparesWithNeighbouringRuns(t *testing.T) {
	schedule := []int{Base, 0, 1, Base, 2, Base}
	// The machine is four times as slow at the end: the base takes 10, 20 and 40.
	values := []float64{10, 7, 28, 20, 40, 40}
	for subject, want := range []float64{7 / math.Sqrt(200), 28 / math.Sqrt(200), 40 / math.Sqrt(800)} {
		got := Beside(schedule, values, subject)
		if len(got) != 1 || math.Abs(got[0].Ratio()-want) > 1e-12 {
			t.Errorf("subject %d: %v, want %v", subject, got, want)
		}
	}
	if got := Beside(schedule, values, 7); got != nil {
		t.Error("a subject that was not there has", got)
	}
}

func TestSummaryIsTheGeometricMeanAndSpread(t *testing.T) {
	got := Summarize([]float64{0.5, 2, 1, 1})
	if math.Abs(got.Mean-1) > 1e-12 || got.Low != 0.5 || got.High != 2 {
		t.Error(got)
	}
	if got := Summarize(nil); got != (Summary{}) {
		t.Error(got)
	}
}

func TestMedians(t *testing.T) {
	for want, of := range map[float64][]float64{3: {5, 3, 1}, 2.5: {4, 1, 2, 3}, 7: {7}} {
		if got := Median(of); got != want {
			t.Errorf("%v: %v", of, got)
		}
	}
	if got := Median(nil); !math.IsNaN(got) {
		t.Error(got)
	}
}
