package admin

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func TestCapacityIsWarnedOfAboveFourFifths(t *testing.T) {
	for _, c := range []struct {
		used, most int64
		grade      string
	}{{0, 10, adminapi.GradeOK}, {7, 10, adminapi.GradeOK}, {79, 100, adminapi.GradeOK}, {8, 10, adminapi.GradeWarn}, {30, 10, adminapi.GradeWarn}} {
		var out adminapi.Findings
		addCapacity(&out, "keys", c.used, c.most, "raise it")
		if f := out[0]; f.Grade != c.grade || (f.Remedy == "") != (c.grade == adminapi.GradeOK) {
			t.Errorf("%d of %d: %+v", c.used, c.most, f)
		}
	}
}

func TestCapacityOfANode(t *testing.T) {
	revoked, err := revocationlist.New(revocationlist.Config{
		Store: storetest.NewMemory(nil), MaxTokenLife: func() time.Duration { return time.Hour }, Limit: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	limits, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	g := &Config{Revocations: revoked, LimiterMemory: func() (ratelimit.Stats, bool) { return limits.Stats(), true }}
	grades := func() (all string) {
		var out adminapi.Findings
		g.checkCapacity(t.Context(), &out)
		for _, f := range out {
			all += f.Check + ":" + f.Grade + " "
		}
		return all
	}
	if got := grades(); got != "capacity:ok capacity:ok " {
		t.Error(got)
	}
	for i := range 8 {
		if err := revoked.Revoke(t.Context(), store.Revocation{Of: store.RevokeSubject, Value: fmt.Sprint("u-", i), At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	if got := grades(); got != "capacity:warn capacity:ok " {
		t.Error(got)
	}
}
