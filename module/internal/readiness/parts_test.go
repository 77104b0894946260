package readiness

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func TestReadinessDependsOnEachPart(t *testing.T) {
	revocations, err := revocationlist.New(revocationlist.Config{
		Store: storetest.NewMemory(nil), Log: slog.New(slog.DiscardHandler), MaxTokenLife: func() time.Duration { return time.Hour },
	})
	if err != nil {
		t.Fatal(err)
	}
	away := errors.New("away")
	for name, c := range map[string]struct {
		found       Result
		limiter     error
		limitsClose bool
		want        string // the states of store, keys, revocations (never loaded) and limiter
	}{
		"all is well":          {want: "ok ok failing ok"},
		"no store":             {found: Result{Store: away, Keys: away}, want: "failing failing failing ok"},
		"a store that is full": {found: Result{Degraded: away}, want: "degraded ok failing ok"},
		"no limiter":           {limiter: away, want: "ok ok failing degraded"},
		"no limiter, closed":   {limiter: away, limitsClose: true, want: "ok ok failing failing"},
	} {
		got := Sum(c.found, revocations, c.limiter, c.limitsClose)
		states := ""
		for _, p := range got.Parts {
			states += " " + p.State
		}
		if states[1:] != c.want || got.Ready || got.State != adminapi.StateFailing {
			t.Errorf("%s: %s, ready %v", name, states, got.Ready)
		}
	}
}
