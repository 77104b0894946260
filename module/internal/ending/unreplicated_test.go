package ending_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

var errAlone = errors.New("no replica")

// An end that was slower than a later one writes nothing: that the later one is stored may be lost yet.
func TestEndOvertakenByALaterOneIsDoneOnceThatIsDurable(t *testing.T) {
	for name, end := range map[string]func(*ending.Ender) error{
		"a user": func(e *ending.Ender) error { return e.EndSubject(t.Context(), "u") },
		"a pair": func(e *ending.Ender) error { return e.EndPair(t.Context(), "c", "u") },
	} {
		for _, alone := range []error{errAlone, nil} {
			c := &clock{time.Unix(1_900_000_000, 0)}
			m := storetest.NewMemory(c.now)
			late := &watched{Backend: m}
			slow, told := newEnder(t, late, c)
			fast, _ := newEnder(t, m, &clock{c.at.Add(time.Minute)})
			overtaken := false
			late.before = func() {
				if overtaken || len(m.OfKind(store.KindSweep)) == 0 {
					return
				}
				overtaken = true // the slow one has its epoch, and has not written it
				must(0, end(fast))(t)
				m.LoseReplicas(alone)
			}
			if err := end(slow); !overtaken || !errors.Is(err, alone) {
				t.Errorf("%s, overtaken %v: %v, want %v", name, overtaken, err, alone)
			}
			if n := len(told.all); (n == 0) != (alone != nil) {
				t.Errorf("%s, %v: guards were told %d times", name, alone, n)
			}
		}
	}
}

// unconfirmed is a store that confirms nothing.
type unconfirmed struct{ store.Backend }

func (unconfirmed) Confirm(context.Context, store.Key) error              { return errAlone }
func (unconfirmed) ConfirmList(context.Context, store.Kind, string) error { return errAlone }

// That guards have been told is not taken for done on the word of a notice which no replica has.
func TestSweepWaitsUntilTheNoticeIsDurable(t *testing.T) {
	c := &clock{time.Unix(1_900_000_000, 0)}
	m := storetest.NewMemory(c.now)
	e, told := newEnder(t, m, c)
	must(0, e.EndSubject(t.Context(), "u"))(t)
	must(m.Create(t.Context(), store.Record{Key: told.all[0].Key(), Value: []byte("{}")}))(t)
	for _, b := range []store.Backend{unconfirmed{m}, m} {
		s := must(ending.NewSweeper(ending.SweeperConfig{Store: b, Revocations: &notices{}, Now: c.now}))(t)
		_, err := s.Sweep(t.Context())
		if want := b != store.Backend(m); errors.Is(err, errAlone) != want {
			t.Errorf("a store that confirms nothing: %v, %v", want, err)
		}
	}
}
