package attempt

import (
	"fmt"
	"testing"
	"time"
)

// Whoever tries wrong secrets under ever new names of clients costs us nothing, so it
// must not buy another round of guesses at a user's password.
func TestFloodingOneKindForgetsNothingOfAnother(t *testing.T) {
	b := NewBook(100, newClock().now)
	r := Rule{Limit: 10, Window: time.Minute}
	for range 9 {
		wantTake(t, b, "user:alice", r, true, 0)
	}
	for i := range 10_000 {
		b.Take(fmt.Sprint("client:", i, "|192.0.2.1"), r)
	}
	wantTake(t, b, "user:alice", r, true, 0)
	wantTake(t, b, "user:alice", r, false, time.Minute)
}

// Nor may it make everybody share one count.
func TestLockedKeysOfOneKindLeaveTheOthersTheirRoom(t *testing.T) {
	b := NewBook(10, newClock().now)
	once := Rule{Limit: 1, Window: time.Minute, Lock: time.Minute}
	for i := range 20 {
		b.Take(fmt.Sprint("client:", i), once)
	}
	for i := range 10 {
		wantTake(t, b, fmt.Sprint("user:", i), once, true, 0)
	}
}

func TestTheKindsAreBounded(t *testing.T) {
	b := NewBook(10, newClock().now)
	r := Rule{Limit: 2, Window: time.Minute}
	for i := range 10_000 {
		b.Take(fmt.Sprint(i, ":x"), r)
	}
	if n := len(b.kinds); n > maxKinds+1 {
		t.Errorf("there are %d kinds", n)
	}
	if n := held(b); n > (maxKinds+1)*10 {
		t.Errorf("%d keys are held", n)
	}
}
