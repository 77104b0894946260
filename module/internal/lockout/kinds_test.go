package lockout

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Whoever tries wrong secrets under ever new names of clients costs us nothing, so it
// must not buy another round of guesses at a user's password.
func TestFloodingOneKindForgetsNoOther(t *testing.T) {
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

// Nor may it take the room of another kind.
func TestLockedKeysOfOneKindLeaveRoomForOthers(t *testing.T) {
	b := NewBook(10, newClock().now)
	once := Rule{Limit: 1, Window: time.Minute, Lock: time.Minute}
	for i := range 20 {
		b.Take(fmt.Sprint("client:", i), once)
	}
	for i := range 10 {
		wantTake(t, b, fmt.Sprint("user:", i), once, true, 0)
	}
}

func TestLockoutKindsAreLimited(t *testing.T) {
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

func TestForgottenKeysStartAnew(t *testing.T) {
	b := NewBook(100, newClock().now)
	r := Rule{Limit: 2, Window: time.Minute, Lock: time.Hour}
	long := "user:" + strings.Repeat("a", longestKey)
	for _, key := range []string{"user:alice", "user:bob", long, "known:x|alice", "known:y|alice", "known:y|bob"} {
		b.Take(key, r)
		b.Take(key, r)
		wantTake(t, b, key, r, false, time.Hour)
	}
	b.Forget("user:alice")
	b.Forget("user:nobody")
	b.Forget(long)
	b.ForgetSuffix("known", "|alice")
	for _, key := range []string{"user:alice", long, "known:x|alice", "known:y|alice"} {
		wantTake(t, b, key, r, true, 0)
		wantTake(t, b, key, r, true, 0)
		wantTake(t, b, key, r, false, time.Hour)
		if !b.NewlyRefused(key) {
			t.Errorf("nobody is told of the second refusal of %s", key)
		}
	}
	for _, key := range []string{"user:bob", "known:y|bob"} {
		wantTake(t, b, key, r, false, time.Hour)
	}
	if n := held(b); n != 6 {
		t.Errorf("%d keys are held", n)
	}
}
