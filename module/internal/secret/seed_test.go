package secret

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

const drawVariable = "GATEHOUSE_TEST_DRAW"

// U28, the half that runs: processes that start in the same moment draw nothing in common.
// With a seed of the clock, or a fixed one, they would.
func TestConcurrentProcessesDrawDifferentRandomness(t *testing.T) {
	if os.Getenv(drawVariable) != "" {
		for range 50 {
			os.Stdout.WriteString("drawn " + Token() + "\ndrawn " + ID() + "\n")
		}
		return
	}
	const processes = 8
	outputs, faults := make([]string, processes), make([]error, processes)
	var all sync.WaitGroup
	for i := range processes {
		all.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
			cmd.Env = append(os.Environ(), drawVariable+"=1")
			out, err := cmd.Output()
			outputs[i], faults[i] = string(out), err
		})
	}
	all.Wait()
	seen := make(map[string]bool)
	for i, out := range outputs {
		if faults[i] != nil {
			t.Fatal(faults[i])
		}
		for line := range strings.Lines(out) {
			value, ok := strings.CutPrefix(strings.TrimSpace(line), "drawn ")
			if !ok {
				continue
			}
			if beginning := value[:8]; seen[value] || seen[beginning] { // 48 bits of 800 draws
				t.Fatalf("U28 %s was drawn before", value)
			}
			seen[value], seen[value[:8]] = true, true
		}
	}
	if len(seen) != 2*2*50*processes {
		t.Errorf("U28 %d values were drawn", len(seen)/2)
	}
}
