package validate

import (
	"errors"
	"runtime"
	"time"
)

const (
	// largeBody is how many bytes of values are checked against a schema without waiting for a turn.
	largeBody = 16 << 10
	// largeEffort is how many checks a smaller body takes without waiting for one: they take a tenth of a second.
	largeEffort = 50_000
	// patience is how long other bodies wait for their turn.
	patience = 10 * time.Second
)

// turns bounds how many large bodies are checked at once. The validator reports every fault: a list of 100,000 elements
// that are all wrong, 200 KB, takes a second and 90 MiB.
type turns chan struct{}

// large are the turns of all schemas. Half of the processors are left to other requests.
var large = make(turns, max(1, runtime.GOMAXPROCS(0)/2))

var errTurn = errors.New("too many large bodies are being checked against schemas")

// take waits for a turn, which ends with done.
func (t turns) take() (done func(), err error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-late.C:
		return nil, errTurn
	}
}
