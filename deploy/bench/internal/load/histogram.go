package load

import (
	"math/bits"
	"time"
)

const (
	// precision is how many bits of a duration count: 6 keep a quantile within 1.6 %.
	precision = 6
	perOctave = 1 << precision
)

// Histogram counts durations. The zero value is empty.
type Histogram struct {
	counts [(64 - precision) * perOctave]uint32
	n      int
}

// Add counts a duration.
func (h *Histogram) Add(d time.Duration) {
	h.counts[bucket(max(0, d))]++
	h.n++
}

// Merge adds the counts of another histogram.
func (h *Histogram) Merge(other *Histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.n += other.n
}

// Count is how many durations were added.
func (h *Histogram) Count() int { return h.n }

// Quantile is the duration that a share q of all does not exceed, 0 if there is none.
func (h *Histogram) Quantile(q float64) time.Duration {
	left := int(q*float64(h.n)) + 1
	for i, n := range h.counts {
		if left -= int(n); n > 0 && left <= 0 {
			return lowest(i)
		}
	}
	for i := len(h.counts) - 1; i >= 0; i-- {
		if h.counts[i] > 0 {
			return lowest(i)
		}
	}
	return 0
}

// bucket is the place of a duration: its highest bit and the next ones.
func bucket(d time.Duration) int {
	v := uint64(d)
	if v < perOctave {
		return int(v)
	}
	shift := bits.Len64(v) - precision - 1
	return (shift+1)<<precision + int(v>>shift) - perOctave
}

// lowest is the shortest duration in a bucket.
func lowest(bucket int) time.Duration {
	octave := bucket >> precision
	if octave == 0 {
		return time.Duration(bucket)
	}
	return time.Duration(bucket&(perOctave-1)+perOctave) << (octave - 1)
}
