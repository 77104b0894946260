package admission

import (
	"fmt"
	"testing"
	"time"
)

func TestEachRefusalDelaysAConnectionOnce(t *testing.T) {
	c := newCooldown()
	at := time.Minute
	c.now = func() time.Duration { return at }
	if left := c.take("a"); left != 0 {
		t.Errorf("%v although never refused", left)
	}
	c.begin("a", 2*time.Second)
	at += 500 * time.Millisecond
	if left := c.take("b"); left != 0 {
		t.Errorf("another connection waits for %v", left)
	}
	if left := c.take("a"); left != 1500*time.Millisecond {
		t.Errorf("%v left", left)
	}
	if left := c.take("a"); left != 0 {
		t.Errorf("%v left for the second time", left)
	}
	c.begin("a", time.Second)
	at += time.Second
	if left := c.take("a"); left != 0 {
		t.Errorf("%v left although it waited", left)
	}
}

// The memory is fixed: of more connections than it has room for, some are forgotten and
// none waits for another's refusal.
func TestCooldownForgetsConnectionsBeyondItsSlots(t *testing.T) {
	c := newCooldown()
	for i := range 2 * slots {
		c.begin(fmt.Sprint("refused ", i), time.Hour)
	}
	known := 0
	for i := range 2 * slots {
		if c.take(fmt.Sprint("refused ", i)) > 0 {
			known++
		}
		if c.take(fmt.Sprint("not refused ", i)) > 0 {
			t.Fatal("waits for another's refusal")
		}
	}
	if known > slots || known < slots/2 {
		t.Errorf("%d of %d are known", known, 2*slots)
	}
}
