package token

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/keyring"
)

func TestOldKeyGetsASuccessor(t *testing.T) {
	n := start(t, "ES256")
	n.every = 30 * 24 * time.Hour
	n.issue(t)
	tend := func() int {
		if err := n.ring.Tend(t.Context()); err != nil {
			t.Fatal(err)
		}
		return len(n.states(t))
	}
	if n.move(n.every - time.Minute); tend() != 1 {
		t.Error("it was rotated too early")
	}
	n.move(time.Minute)
	for range 2 {
		if tend() != 2 {
			t.Errorf("the ring holds %v", n.states(t))
		}
	}
	if got := n.changes; len(got) != 2 || got[0].Why != keyring.WhyFirst || got[1].Why != keyring.WhySchedule || got[1].Alg != "ES256" || n.states(t)[got[1].Kid] != keyring.KeyNext {
		t.Errorf("told of %+v", got)
	}
	n.every = 0
	if n.move(1000 * 24 * time.Hour); tend() != 1 {
		t.Errorf("with no schedule: %v", n.states(t))
	}
}
