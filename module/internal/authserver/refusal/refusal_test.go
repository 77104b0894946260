package refusal

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

func TestFaultIsDistinguishedFromRefusal(t *testing.T) {
	fault := errors.New("the store is away")
	for _, test := range []struct {
		err     error
		refused bool
		code    oauth.Code
	}{
		{nil, false, ""},
		{fault, false, oauth.TemporarilyUnavailable},
		{oauth.Unavailable(fault), false, oauth.TemporarilyUnavailable},
		{Busy(time.Second), true, oauth.TemporarilyUnavailable},
		{fmt.Errorf("wrapped: %w", Forbid()), true, Forbidden},
		{Limited(false, 90*time.Second), true, oauth.SlowDown},
		{Limited(true, 0), false, ""},
	} {
		if _, ok := From(test.err); ok != test.refused {
			t.Errorf("%v: refused %t", test.err, ok)
		}
		var e *oauth.Error
		errors.As(OrUnavailable(test.err), &e)
		if test.code == "" && e != nil || test.code != "" && (e == nil || e.Code != test.code) {
			t.Errorf("%v: %v", test.err, e)
		}
	}
}
