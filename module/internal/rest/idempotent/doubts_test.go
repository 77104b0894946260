package idempotent_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/idempotent"
)

// The store does not answer from some operation on, whether or not that takes effect. Nothing was
// sent, so the key is not used up: the repetition begins, and only one does.
func TestKeyIsNotUsedUpByA503(t *testing.T) {
	for failAt := 1; failAt <= 6; failAt++ {
		for _, after := range []bool{false, true} {
			l := newLedger(newClock().now)
			k := keeper(t, l)
			l.failAt, l.after = failAt, after
			l.faulty = func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				if l.failAt < failAt+2 {
					l.failAt = l.ops + 1
				}
			}
			var told []string
			begun := 0
			for range 4 {
				a, got := ask(k, aKey, "body")
				told = append(told, got)
				if got == "fault" || a != nil {
					l.failAt = 0 // it answers again
				}
				if a != nil {
					begun++
					if _, got := ask(k, aKey, "body"); got != "idempotency_in_progress" {
						t.Errorf("fault at %d, after %v: %s meanwhile", failAt, after, got)
					}
					if _, got := ask(k, aKey, "another"); got != "idempotency_key_reused" {
						t.Errorf("fault at %d, after %v: %s for another body", failAt, after, got)
					}
					if err := a.Keep(t.Context(), idempotent.Answer{Status: 201, Body: fmt.Append(nil, begun)}); err != nil {
						t.Error(err)
					}
				}
			}
			if begun != 1 || told[1] != "begin" && told[0] != "begin" || told[3] != "replay 201 1" {
				t.Errorf("fault at %d, after %v: %q", failAt, after, told)
			}
		}
	}
}
