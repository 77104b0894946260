// Package ratio compares what was measured with its neighbours in time. The speed of a machine
// changes by half within a minute, so only slices that follow each other can be compared.
package ratio

import (
	"math"
	"slices"
)

// Base stands for the base in a schedule.
const Base = -1

// Schedule lists which of so many subjects has each slice of a rotation. The base comes first,
// before every third and last, so each subject is next to one. Each rotation begins with
// another subject, so none always follows the same one.
func Schedule(subjects, rotation int) []int {
	order := []int{Base}
	for i := range subjects {
		if i > 0 && i%2 == 0 {
			order = append(order, Base)
		}
		order = append(order, (i+rotation)%subjects)
	}
	return append(order, Base)
}

// Pair is what a subject had in a slice, and the base around it.
type Pair struct{ Subject, Base float64 }

// Ratio divides the two.
func (p Pair) Ratio() float64 { return p.Subject / p.Base }

// Beside finds the slices of a subject. Its base is the geometric mean of the slices of the
// base before and after. values has a value for each slice of the schedule.
func Beside(schedule []int, values []float64, subject int) (pairs []Pair) {
	for i, who := range schedule {
		if who != subject {
			continue
		}
		before, after := i, i
		for schedule[before] != Base {
			before--
		}
		for schedule[after] != Base {
			after++
		}
		pairs = append(pairs, Pair{values[i], math.Sqrt(values[before] * values[after])})
	}
	return pairs
}

// Summary is what several rotations gave.
type Summary struct {
	// Mean is the geometric mean, Low and High the least and the greatest.
	Mean, Low, High float64
}

// Summarize returns the zero value for no ratios.
func Summarize(ratios []float64) Summary {
	if len(ratios) == 0 {
		return Summary{}
	}
	sum := 0.0
	for _, r := range ratios {
		sum += math.Log(r)
	}
	return Summary{Mean: math.Exp(sum / float64(len(ratios))), Low: slices.Min(ratios), High: slices.Max(ratios)}
}

// Median is that of some values, NaN for none.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[n/2] + sorted[(n-1)/2]) / 2
}
