package hashslot_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse/gatehouse/plugins/internal/hashslot"
)

// The first is the check value of the specification of Redis Cluster, 0x31C3.
func TestSlotsAreThoseOfRedis(t *testing.T) {
	for tag, want := range map[string]int{"123456789": 12739, "": 0, "foo": 12182, "bar": 5061} {
		if got := hashslot.Of(tag); got != want {
			t.Errorf("slot of %q is %d, want %d", tag, got, want)
		}
	}
}

func TestEachPartHasTheLowestNumberInItsMiddle(t *testing.T) {
	const parts = 24
	var found [parts]bool
	numbers := hashslot.Spread("p*", parts)
	for n := range 10_000 {
		at := float64(hashslot.Of(fmt.Sprint("p*", n))) * parts / hashslot.Count
		part := int(at)
		if at -= float64(part); at < 0.25 || at >= 0.75 || found[part] {
			continue
		}
		if found[part] = true; numbers[part] != n {
			t.Errorf("part %d has the number %d, want %d", part, numbers[part], n)
		}
	}
}
