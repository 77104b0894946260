package ratelimit

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Slots is how many parts a window is cut into. One part is the most by which a
// unit is remembered too long; no unit is ever forgotten too early.
const Slots = 60

const (
	minWindow = time.Second          // below, a slot would be a few milliseconds and the header fields say nothing
	maxWindow = 366 * 24 * time.Hour // a year
	maxName   = 64
)

// Policy admits at most Limit units of cost in any stretch of length Window.
type Policy struct {
	// Limiter is whose policy it is: like names of one limiter are counted together. Empty, or
	// made as Name. It is part of the key, and clients do not see it.
	Limiter string
	// Name is 1 to 64 letters, digits, "_", "-" or "."; clients see it, and it is part of
	// the key under which units are counted.
	Name string
	// Limit is in units of cost, 1 to 4294967295. It is no part of the key: a reload may
	// change it and keeps the counts.
	Limit int64
	// Window is a whole number of milliseconds, 1 s to 366 days.
	Window time.Duration
	// DryRun counts what fits and never refuses.
	DryRun bool
	// Chosen means that clients choose the subject, so there may be any number of them. A
	// source that keeps counts elsewhere MUST bound what those take there. A [Memory] bounds
	// the counts of all policies.
	Chosen bool
}

// Check says what is wrong with the policy. Sources may count on it having passed.
func (p *Policy) Check() error {
	if p.Name == "" || len(p.Name) > maxName {
		return fmt.Errorf("rate limit policy %.80q: a name has 1 to %d characters", p.Name, maxName)
	}
	if len(p.Limiter) > maxName {
		return fmt.Errorf("rate limiter %.80q: a name has at most %d characters", p.Limiter, maxName)
	}
	for _, name := range []string{p.Limiter, p.Name} {
		for i := range len(name) {
			if c := name[i]; !nameByte(c) {
				return fmt.Errorf("rate limit policy %q: %q cannot be in a name", name, c)
			}
		}
	}
	if p.Limit < 1 || p.Limit > math.MaxUint32 {
		return fmt.Errorf("rate limit policy %q: the limit %d is not from 1 to %d", p.Name, p.Limit, uint32(math.MaxUint32))
	}
	if p.Window < minWindow || p.Window > maxWindow {
		return fmt.Errorf("rate limit policy %q: the window %v is not from %v to %v", p.Name, p.Window, minWindow, maxWindow)
	}
	if p.Window%time.Millisecond != 0 {
		return fmt.Errorf("rate limit policy %q: the window %v is no whole number of milliseconds", p.Name, p.Window)
	}
	return nil
}

func nameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'
}

// Grain is the length of the window and of one slot, in milliseconds.
func (p *Policy) Grain() Grain { return newGrain(p.Window) }

// Grain says how time is cut: milliseconds since the epoch into slots of Slot. A unit
// in slot k counts until (k+1)*Slot + Window.
type Grain struct{ Window, Slot int64 }

func newGrain(window time.Duration) Grain {
	w := window.Milliseconds()
	return Grain{Window: w, Slot: (w + Slots - 1) / Slots}
}

// slotEnd is when a unit in slot k ceases to count.
func (g Grain) slotEnd(k int64) int64 { return (k+1)*g.Slot + g.Window }

// ErrRequest means that a request was put together wrongly: a negative cost, too many
// charges, two of them for one policy, or a policy that was never checked. It is a fault of
// the caller and never of a client.
var ErrRequest = errors.New("ratelimit: malformed request")
