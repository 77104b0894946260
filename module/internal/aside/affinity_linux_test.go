package aside

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOneProcessorIsAlwaysLeft(t *testing.T) {
	for name, c := range map[string]struct{ allowed, want []int }{
		"one":               {[]int{3}, nil},
		"two":               {[]int{0, 1}, []int{1, 1, 1, 1}},
		"four":              {[]int{0, 1, 2, 3}, []int{1, 2, 3, 1}},
		"some of very many": {[]int{7, 64, 200, 1023}, []int{64, 200, 1023, 64}},
	} {
		var allowed unix.CPUSet
		for _, cpu := range c.allowed {
			allowed.Set(cpu)
		}
		var got []int
		for i := range 4 {
			if cpu, ok := choose(&allowed, i); ok {
				got = append(got, cpu)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
