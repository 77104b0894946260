package soak

import (
	"math"
	"slices"
)

// medianOf is the median of a field.
func medianOf[T any](all []T, field func(T) float64) float64 {
	var values []float64
	for _, s := range all {
		values = append(values, field(s))
	}
	return median(values)
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	if n := len(values); n > 0 {
		return (values[n/2] + values[(n-1)/2]) / 2
	}
	return math.NaN()
}
