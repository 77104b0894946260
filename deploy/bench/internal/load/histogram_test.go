package load

import (
	"math"
	"testing"
	"time"
)

func TestHistogramBucketBoundsAreTight(t *testing.T) {
	for _, d := range []time.Duration{0, 1, 63, 64, 65, 127, 128, 1000, 12_345, time.Millisecond, 17 * time.Second, math.MaxInt64} {
		low := lowest(bucket(d))
		if low > d || float64(d-low) > float64(d)/perOctave {
			t.Errorf("%d is counted as %d", d, low)
		}
	}
}

func TestHistogramBucketsAreOrdered(t *testing.T) {
	last := -1
	for d := time.Duration(0); d < 100_000; d++ {
		b := bucket(d)
		if b < last || b > last+1 {
			t.Fatalf("%d is in bucket %d, the one before in %d", d, b, last)
		}
		last = b
	}
}

func TestQuantilesOfMergedHistograms(t *testing.T) {
	var all, odd Histogram
	for i := 1; i <= 1000; i++ {
		d := time.Duration(i) * time.Microsecond
		if i%2 == 1 {
			odd.Add(d)
		} else {
			all.Add(d)
		}
	}
	all.Merge(&odd)
	if all.Count() != 1000 {
		t.Fatal(all.Count(), "durations")
	}
	for q, want := range map[float64]time.Duration{0: time.Microsecond, 0.5: 501 * time.Microsecond, 0.99: 991 * time.Microsecond, 1: time.Millisecond} {
		got := all.Quantile(q)
		if got > want || float64(want-got) > float64(want)/perOctave {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if got := new(Histogram).Quantile(0.5); got != 0 {
		t.Error("a quantile of nothing is", got)
	}
}
