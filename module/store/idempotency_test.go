package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What is stored today must be read by later releases: the text is part of the contract.
func TestIdempotencyRecordFormatIsStable(t *testing.T) {
	at := time.Date(2026, 2, 3, 4, 5, 6, 789, time.UTC)
	for _, c := range []struct {
		in, out stamped
		golden  string
	}{
		{&Idempotency{Digest: "d", State: "begun", Attempt: "a", Lease: at}, new(Idempotency),
			`{"v":1,"digest":"d","state":"begun","attempt":"a","lease":"2026-02-03T04:05:06.000000789Z"}`},
		{&Idempotency{Digest: "d", State: "kept", Attempt: "a", Lease: at, Status: 201, Answer: []byte{0, 255}}, new(Idempotency),
			`{"v":1,"digest":"d","state":"kept","attempt":"a","lease":"2026-02-03T04:05:06.000000789Z","status":201,"answer":"AP8="}`},
		{&KeyTally{Hours: map[int64]int{491000: 3}}, new(KeyTally), `{"v":1,"hours":{"491000":3}}`},
	} {
		b, err := Encode(c.in)
		if err != nil || string(b) != c.golden {
			t.Errorf("stored as %s, %v", b, err)
		}
		if err := Decode([]byte(c.golden), c.out); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(c.in, c.out, cmpopts.IgnoreUnexported(Idempotency{}, KeyTally{})); diff != "" {
			t.Error(diff)
		}
	}
}
