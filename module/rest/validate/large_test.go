package validate

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/turns"
)

func TestLargeBodiesWaitForATurn(t *testing.T) {
	s := written(t, `{"properties":{"list":{"items":{"type":"string"}}}}`)
	large, refused := Parse([]byte(`{"list":[` + strings.Repeat("1,", largeBody) + `1]}`))
	if refused != nil {
		t.Fatal(refused)
	}
	small, refused := Parse([]byte(`{"list":[1]}`))
	if refused != nil {
		t.Fatal(refused)
	}
	laborious := written(t, `{"properties":{"list":{"items":{"enum":[`+strings.Repeat("[0,1],", 100)+`[0,2]]}}}}`)
	points, refused := Parse([]byte(`{"list":[` + strings.Repeat("[0,2],", 500) + `[0,2]]}`))
	if refused != nil {
		t.Fatal(refused)
	}
	synctest.Test(t, func(t *testing.T) {
		s.schema.turns = turns.New(1)
		done, err := s.schema.turns.Take(turns.Caller{})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if refused := s.Check(turns.Caller{}, nil, small, false); refused == nil || refused.Field != "/list/0" || time.Since(begun) != 0 {
			t.Errorf("a small body: %v", refused)
		}
		if refused := s.Check(turns.Caller{}, nil, large, false); refused == nil || refused.Status != 503 || refused.Header.Get("Retry-After") == "" || time.Since(begun) != turns.Patience {
			t.Errorf("a large body without a turn: %v after %v", refused, time.Since(begun))
		}
		laborious.schema.turns = s.schema.turns
		if refused := laborious.Check(turns.Caller{}, nil, points, false); refused == nil || refused.Status != 503 || time.Since(begun) != 2*turns.Patience {
			t.Errorf("a laborious body without a turn: %v after %v", refused, time.Since(begun))
		}
		time.AfterFunc(time.Second, done)
		for range 2 { // each gives its turn back
			if refused := s.Check(turns.Caller{}, nil, large, false); refused == nil || refused.Field != "/list/0" || time.Since(begun) != 2*turns.Patience+time.Second {
				t.Errorf("a large body: %v after %v", refused, time.Since(begun))
			}
		}
	})
}
