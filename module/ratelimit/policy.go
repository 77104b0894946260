package ratelimit

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Slots is the number of parts of a window. A unit counts for at most one part too long, and
// never too short.
const Slots = 60

const (
	minWindow = time.Second          // header fields count in seconds
	maxWindow = 366 * 24 * time.Hour // a year
	maxName   = 64
)

// Policy admits at most Limit units of cost in any stretch of length Window.
type Policy struct {
	// Limiter separates policies of the same name. Empty, or in the form of Name. It is part of
	// the key, and clients do not see it.
	Limiter string
	// Name is 1 to 64 letters, digits, "_", "-" or "."; clients see it, and it is part of
	// the key under which units are counted.
	Name string
	// Limit is in units of cost, 1 to 4294967295. It is not part of the key: a reload may
	// change it and keep the counts.
	Limit int64
	// Window is a whole number of milliseconds, 1 s to 366 days.
	Window time.Duration
	// DryRun counts what fits and never refuses.
	DryRun bool
	// Chosen means that clients choose the subject, so that there may be any number of subjects.
	// A source that keeps counts elsewhere MUST bound the room they take there. A [Memory]
	// bounds the counts of all policies.
	Chosen bool
	// Place names the policies whose counts are needed together, for a source that keeps counts in
	// several places: all policies of a request have the same, or some of them have [BySubject]. See [AssignPlaces].
	Place string
}

// Check reports what is wrong with the policy. Sources may rely on it.
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

// Grain divides the milliseconds since the epoch into slots of length Slot. A unit in slot k
// counts until (k+1)*Slot + Window.
type Grain struct{ Window, Slot int64 }

// Grain returns the length of the window and of one slot, in milliseconds.
func (p *Policy) Grain() Grain {
	w := p.Window.Milliseconds()
	return Grain{Window: w, Slot: (w + Slots - 1) / Slots}
}

// slotEnd returns when a unit in slot k ceases to count.
func (g Grain) slotEnd(k int64) int64 { return (k+1)*g.Slot + g.Window }

// ErrRequest means that a request is malformed: a negative cost, too many charges, two of them
// for one policy, or a policy that was never checked. It is a mistake of the caller, never of a
// client.
var ErrRequest = errors.New("ratelimit: malformed request")
