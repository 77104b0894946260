package grant

import (
	"strconv"
	"testing"
	"time"
)

func TestTheIntervalOfADeviceGrowsUpToAMinute(t *testing.T) {
	now := time.Unix(1_900_000_000, 0)
	p := newPace(func() time.Time { return now })
	if !p.allows("a") {
		t.Fatal("the first poll is too early")
	}
	for range 100 {
		now = now.Add(time.Second)
		if p.allows("a") {
			t.Fatal("a poll each second is not too early")
		}
	}
	if got := p.polls["a"].interval; got != time.Minute {
		t.Errorf("the interval has become %v", got)
	}
	now = now.Add(time.Minute)
	if !p.allows("a") || !p.allows("b") {
		t.Error("a minute later it is still too early, or for another device")
	}
}

func TestTheDevicesThatAreTimedAreBounded(t *testing.T) {
	now := time.Unix(1_900_000_000, 0)
	p := newPace(func() time.Time { return now })
	for i := range maxPaced + 1000 {
		if !p.allows(strconv.Itoa(i)) {
			t.Fatal("a first poll is too early")
		}
	}
	if len(p.polls) != maxPaced {
		t.Errorf("%d are remembered", len(p.polls))
	}
	if last := strconv.Itoa(maxPaced + 999); !p.allows(last) || p.allows("0") {
		t.Error("beyond the cap a device is timed, or one of before is not")
	}
	now = now.Add(pacedFor)
	if !p.allows("new") || len(p.polls) != 1 {
		t.Errorf("%d are remembered ten minutes later", len(p.polls))
	}
}
