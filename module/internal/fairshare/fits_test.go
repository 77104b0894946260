package fairshare

import (
	"fmt"
	"testing"
)

// What is counted elsewhere is divided as Places divide it.
func TestFitsMatchesPlaces(t *testing.T) {
	for limit := range 20 {
		p := NewPlaces(limit)
		var held []Source
		for i := range 3 * limit {
			s := From([]string{"203.0.113.1", fmt.Sprintf("203.0.113.%d", i), fmt.Sprintf("2001:db8:%x::1", i), fmt.Sprintf("198.%d.100.1", i)}[i%4])
			fits := Fits(limit, held, s)
			if leave, _ := p.Enter(s, limit+1); (leave != nil) != fits {
				t.Fatalf("limit %d, %d: fits %v, there was a place: %v", limit, i, fits, leave != nil)
			}
			if fits {
				held = append(held, s)
			}
		}
	}
}
