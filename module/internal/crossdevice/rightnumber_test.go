package crossdevice_test

import (
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestRightNumberAcceptsEquivalentDigits(t *testing.T) {
	for typed, want := range map[string]bool{"42": true, " 4 2 ": true, "４２": true, "": false, "43": false, "421": false} {
		if got := crossdevice.RightNumber(store.Ticket{Number: "42"}, typed); got != want {
			t.Errorf("%q: %t", typed, got)
		}
		if !crossdevice.RightNumber(store.Ticket{}, typed) {
			t.Errorf("%q where there is no number", typed)
		}
	}
}
