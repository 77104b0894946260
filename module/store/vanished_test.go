package store_test

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func TestClientRemovalTimeNeverGoesBack(t *testing.T) {
	m := storetest.NewMemory(nil)
	noon := time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)
	for _, step := range []struct{ said, want time.Duration }{
		{0, 0}, {5 * time.Second, 5 * time.Second}, {time.Second, 5 * time.Second}, {time.Minute, time.Minute},
	} {
		if err := store.RecordVanished(t.Context(), m, "shop", noon.Add(step.said)); err != nil {
			t.Fatal(err)
		}
		var v store.Vanished
		if _, err := store.Read(t.Context(), m, store.VanishedKey("shop"), &v); err != nil || v.Client != "shop" {
			t.Fatal(v, err)
		}
		if got := v.At.Sub(noon); got != step.want {
			t.Errorf("after a node said %v: %v, want %v", step.said, got, step.want)
		}
	}
}
