package soak

import (
	"fmt"
	"testing"
	"time"
)

// footprint is the memory of a gateway that has nothing to do.
type footprint struct{ resident, heap, stacks int64 }

func (f footprint) String() string {
	return fmt.Sprintf("%d KiB resident, in use %d KiB of heap and %d KiB of stacks", f.resident>>10, f.heap>>10, f.stacks>>10)
}

// above is what each of n has come to cost.
func (f footprint) above(idle footprint, n int) footprint {
	return footprint{(f.resident - idle.resident) / int64(n), (f.heap - idle.heap) / int64(n), (f.stacks - idle.stacks) / int64(n)}
}

// footprint collects the garbage, some times since a stack that has become too large is
// halved by each, and waits until what is free has gone back to the system. In use are the
// spans of the heap and the stacks: what is resident can hide what is taken out of free
// memory that had not gone back.
func (s *site) footprint(t *testing.T, pid int) footprint {
	t.Helper()
	for range 5 {
		fetch(t, s.Admin+"/debug/pprof/heap?gc=1")
	}
	least := residentMemory(t, pid)
	for quiet := 0; quiet < 10; quiet++ {
		time.Sleep(100 * time.Millisecond)
		if now := residentMemory(t, pid); now < least-256<<10 {
			least, quiet = now, 0
		}
	}
	profile := string(fetch(t, s.Admin+"/debug/pprof/heap?debug=1").body)
	return footprint{residentMemory(t, pid), int64(number(t, `# HeapInuse = (\d+)`, profile)), int64(number(t, `# Stack = (\d+)`, profile))}
}
