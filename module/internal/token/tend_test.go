package token

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func TestAKeyThatIsOldEnoughGetsASuccessor(t *testing.T) {
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
	if got := n.changes; len(got) != 2 || got[0].Why != WhyFirst || got[1].Why != WhySchedule || got[1].Alg != "ES256" || n.states(t)[got[1].Kid] != KeyNext {
		t.Errorf("told of %+v", got)
	}
	n.every = 0
	if n.move(1000 * 24 * time.Hour); tend() != 1 {
		t.Errorf("with no schedule: %v", n.states(t))
	}
}

func TestTheRingIsTendedUntilItsOwnerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory(time.Now)
		ring, err := NewRing(RingConfig{
			Store: m, Keys: secrets("s"), RotateEvery: func() time.Duration { return 30 * 24 * time.Hour },
		})
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		look := func() {
			k, _, err := ring.signer(t.Context(), "EdDSA")
			if err != nil {
				t.Fatal(err)
			}
			seen[k.Kid] = true
		}
		look()
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- ring.Run(ctx) }()
		for range 95 {
			time.Sleep(24 * time.Hour)
			if len(seen) == 2 {
				m.Fail(errDown) // an outage is survived
			}
			time.Sleep(time.Minute)
			m.Fail(nil)
			look()
		}
		if len(seen) != 4 {
			t.Errorf("%d keys in 95 days, want 4", len(seen))
		}
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
