package ending_test

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// Whoever signs in with the epoch of a counter that a store has lost is not told that the password is wrong.
func TestEndAheadOfTheCounterIsNoRefusal(t *testing.T) {
	for _, client := range []string{"", "web"} {
		t.Run("client "+client, func(t *testing.T) {
			m := storetest.NewMemory(nil)
			e, err := ending.NewEnder(ending.Config{Store: m, Revocations: new(notices), Longest: time.Hour, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			end := func() error { return e.EndSubject(t.Context(), "u-1") }
			if client != "" {
				end = func() error { return e.EndPair(t.Context(), client, "u-1") }
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			if ended, err := ending.EndedSince(t.Context(), m, "u-1", client, 0); !ended || err != nil {
				t.Errorf("ended meanwhile: %v, %v", ended, err)
			}
			if err := m.Delete(t.Context(), store.EpochCounterKey()); err != nil {
				t.Fatal(err)
			}
			if _, err := ending.EndedSince(t.Context(), m, "u-1", client, 0); err == nil || store.IsAnswer(err) {
				t.Errorf("with a lost counter: %v", err)
			}
			epoch, err := ending.CurrentEpoch(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			if ended, err := ending.EndedSince(t.Context(), m, "u-1", client, epoch); ended || err != nil {
				t.Errorf("at the next attempt: %v, %v", ended, err)
			}
		})
	}
}
