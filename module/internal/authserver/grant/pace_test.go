package grant

import (
	"strconv"
	"testing"
	"time"
)

func TestDevicePollIntervalGrowsUpToAMinute(t *testing.T) {
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

func TestTimedDevicesAreLimited(t *testing.T) {
	for _, times := range []int{1, 2, 10} {
		now := time.Unix(1_900_000_000, 0)
		p := newPace(func() time.Time { return now })
		last := strconv.Itoa(times*maxPaced + 999)
		for i := range times*maxPaced + 1000 {
			if !p.allows(strconv.Itoa(i)) {
				t.Fatalf("%d x: a first poll is too early", times)
			}
		}
		if len(p.polls) != maxPaced {
			t.Errorf("%d x: %d are remembered", times, len(p.polls))
		}
		if !p.allows(last) || p.allows("0") {
			t.Errorf("%d x: beyond the cap a device is timed, or one of before is not", times)
		}
		now = now.Add(pacedFor)
		if !p.allows("new") || len(p.polls) != 1 {
			t.Errorf("%d x: %d are remembered ten minutes later", times, len(p.polls))
		}
	}
}
