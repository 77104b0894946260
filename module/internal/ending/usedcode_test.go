package ending

import (
	"testing"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// A used code has no client of its own: it is as dead as its grant.
func TestUsedCodeIsInvalidWithItsGrant(t *testing.T) {
	b := storetest.NewMemory(nil)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pair := store.Pair{Client: "c", Subject: "u", Epoch: 5}
	_, err := store.Create(t.Context(), b, store.Record{Key: store.PairKey("c", "u"), Parent: "u"}, &pair)
	must(err)
	for id, epoch := range map[string]int64{"ended": 4, "alive": 5} {
		g := store.Grant{ID: id, Client: "c", Subject: "u", Epochs: store.Epochs{Pair: epoch}}
		_, err := store.Create(t.Context(), b, store.Record{Key: store.Key{Kind: store.KindGrant, ID: id}, Parent: "u"}, &g)
		must(err)
	}
	judge, err := NewJudge(t.Context(), b, "u")
	must(err)
	for grant, want := range map[string]bool{"ended": true, "alive": false, "gone": true} {
		code, _ := store.Code{State: store.CodeClaimed, Attempt: "a", Client: "c", Subject: "u", Grant: grant}.Use("a")
		if dead, err := judge.isDeadCode(t.Context(), code); dead != want || err != nil {
			t.Errorf("the code of a grant that is %s: dead %t, %v", grant, dead, err)
		}
	}
}
