package lockout

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/fairshare"
)

func TestRefusedAttemptTakesNothingFromTheBook(t *testing.T) {
	b := NewBook(100, newClock().now)
	own, together := Rule{Limit: 3, Window: time.Minute}, Rule{Limit: 10, Window: time.Minute}
	take := func(ip string, cost int) bool {
		ok, retry := b.TakeShare("push:"+ip, own, fairshare.From(ip), "push", together, cost)
		if ok == (retry > 0) {
			t.Errorf("%t, %v", ok, retry)
		}
		return ok
	}
	for i := range 4 { // three of each, and the last of all ten
		for j := range 4 {
			if got, want := take(fmt.Sprintf("%d.0.0.1", i+1), 1), j < 3 && 3*i+j < 10; got != want {
				t.Errorf("address %d, attempt %d: %t, want %t", i, j+1, got, want)
			}
		}
	}
	admitted := 0
	for i := range 1000 {
		if take(fmt.Sprintf("2001:db8:7:%x::1", i), 1) {
			admitted++
		}
	}
	if n := held(b); admitted != 4 || n != 4+admitted {
		t.Errorf("a /48 has %d of the reserve, and %d keys are held", admitted, n)
	}
	if !take("198.51.100.1", 1) || take("198.51.101.1", 1) {
		t.Error("the last of the reserve was not a newcomer's")
	}
	if ok, _ := b.rate("other", together).Take(fairshare.From("1.0.0.1"), 10); !ok {
		t.Error("two names share a rate")
	}
}
