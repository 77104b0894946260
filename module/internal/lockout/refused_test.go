package lockout

import (
	"testing"
	"time"
)

func TestRefusedCheckCountsNothing(t *testing.T) {
	c := newClock()
	b := NewBook(1, c.now)
	r := Rule{Limit: 2, Window: time.Minute}
	ask := func(key string, want bool, wantRetry time.Duration) {
		t.Helper()
		for range 3 {
			if refused, retry := b.Refused(key, r); refused != want || retry != wantRetry {
				t.Fatalf("Refused(%q) = %v, %v; want %v, %v", key, refused, retry, want, wantRetry)
			}
		}
	}
	ask("a", false, 0)
	if held(b) != 0 {
		t.Fatal("asking made an entry")
	}
	wantTake(t, b, "a", r, true, 0)
	ask("a", false, 0)
	ask("b", false, 0) // would take the place of "a"
	c.pass(20 * time.Second)
	wantTake(t, b, "a", r, true, 0)
	ask("a", true, 40*time.Second)
	ask("b", false, 0) // would take the place of "a", which nobody else is refused for
	c.pass(40 * time.Second)
	ask("a", false, 0)
	c.pass(time.Hour)
	ask("a", false, 0)
	if refused, retry := b.Refused("a", Rule{Window: time.Minute}); !refused || retry != time.Minute {
		t.Fatal("a rule without attempts must refuse")
	}
}
