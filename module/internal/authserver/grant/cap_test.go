package grant

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/module/directory/directorytest"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// familiesOf checks the configuration.
func familiesOf(t *testing.T, c Config) *Families {
	t.Helper()
	f, err := NewFamilies(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// capRig is families with a cap, on a clock of their own.
type capRig struct {
	*Families
	memory  *storetest.Memory
	at      time.Time
	evicted int
}

func newCapRig(t *testing.T, most int) *capRig {
	t.Helper()
	r := &capRig{at: time.Unix(1_900_000_000, 0)}
	now := func() time.Time { return r.at }
	r.memory = storetest.NewMemory(now)
	keys := newKeys(t, "k")
	c := Config{
		Store: r.memory, Directory: directorytest.NewMemory(), Revocations: deafRevoker{}, Passwords: anybody{}, Now: now,
		Keys:    func(context.Context) (*secret.Keys, error) { return keys, nil },
		Evicted: func() { r.evicted++ }, PerPair: most,
		Access: time.Hour, Refresh: 24 * time.Hour,
	}
	r.Families = familiesOf(t, c)
	return r
}

func (r *capRig) grant(id string) store.Grant {
	return store.Grant{
		ID: id, Dialect: store.DialectOAuth, Client: "c", Subject: "u", Generation: 1,
		IssuedAt: r.at, RotatedAt: r.at, Expires: r.at.Add(24 * time.Hour),
	}
}

// live are the grants of the user that are not revoked.
func (r *capRig) live(t interface{ Fatal(...any) }) map[string]store.Grant {
	all, err := r.memory.List(context.Background(), store.KindGrant, "u", "", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	live := make(map[string]store.Grant)
	for _, rec := range all {
		var g store.Grant
		if err := store.Decode(rec.Value, &g); err != nil {
			t.Fatal(err)
		}
		if !g.Revoked() {
			live[g.ID] = g
		}
	}
	return live
}

// TestLeastRecentlyUsedGrantEndsAtTheCap compares with a model: of what was begun, used
// and ended in any order, the cap's worth that was used last lives.
func TestLeastRecentlyUsedGrantEndsAtTheCap(t *testing.T) { // N02
	rapid.Check(t, func(rt *rapid.T) {
		const most = 3
		r := newCapRig(t, most)
		ctx := t.Context()
		var model []string // by use, the last one at the end
		drop := func(id string) {
			for i := range model {
				if model[i] == id {
					model = append(model[:i:i], model[i+1:]...)
					return
				}
			}
		}
		for step := range rapid.IntRange(1, 25).Draw(rt, "steps") {
			r.at = r.at.Add(time.Second)
			what := rapid.IntRange(0, 3).Draw(rt, "what")
			id := fmt.Sprint(step)
			if what > 1 && len(model) > 0 {
				id = model[rapid.IntRange(0, len(model)-1).Draw(rt, "which")]
			}
			switch {
			case what <= 1 || len(model) == 0:
				if err := r.beginFamily(ctx, r.grant(id)); err != nil {
					rt.Fatal(err)
				}
				if model = append(model, id); len(model) > most {
					model = model[1:]
				}
			case what == 2: // a refresh
				rec, g, err := r.readFamily(ctx, id)
				if err == nil {
					g.RotatedAt = r.at
					err = r.swapFamily(ctx, rec, g)
				}
				if err != nil {
					rt.Fatal(err)
				}
				drop(id)
				model = append(model, id)
			default:
				if _, _, err := r.endFamily(ctx, id); err != nil {
					rt.Fatal(err)
				}
				drop(id)
			}
			live := r.live(rt)
			if len(live) != len(model) {
				rt.Fatalf("%d grants live, want %v", len(live), model)
			}
			for _, id := range model {
				if _, ok := live[id]; !ok {
					rt.Fatalf("grant %s is dead, want %v to live", id, model)
				}
			}
		}
	})
}

func TestParallelGrantsStayWithinTheCap(t *testing.T) { // N02
	r := newCapRig(t, 5)
	r.Evicted = func() {}
	other := familiesOf(t, r.Config) // another node: it does not share the turns
	var all sync.WaitGroup
	for i := range 60 {
		f := []*Families{r.Families, other}[i%2]
		all.Go(func() {
			if err := f.beginFamily(t.Context(), r.grant(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(r.live(t)); n > 5 {
		t.Errorf("%d grants live, at most 5 may", n)
	}
}

// Whoever begins grants in a loop ends the own ones at that client, and nobody else's.
func TestGrantCapEndsOnlyGrantsOfTheSamePair(t *testing.T) { // N02
	const most = 5
	for _, times := range []int{1, 2, 10} {
		r := newCapRig(t, most)
		begin := func(g store.Grant) {
			r.at = r.at.Add(time.Second)
			if err := r.beginFamily(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		}
		another, elsewhere := r.grant("of another user"), r.grant("at another client")
		another.Subject, elsewhere.Client = "v", "d"
		begin(another)
		begin(elsewhere)
		for i := range times * most {
			begin(r.grant(fmt.Sprint(i)))
		}
		if live := r.live(t); len(live) != most+1 || live[elsewhere.ID].ID == "" || r.evicted != (times-1)*most {
			t.Errorf("%d x: %d grants of the user live, %d were evicted", times, len(live), r.evicted)
		}
		if _, g, err := r.readFamily(t.Context(), another.ID); err != nil || g.Revoked() {
			t.Errorf("%d x: the grant of another user: %+v, %v", times, g, err)
		}
		var p store.Pair
		if _, err := store.Read(t.Context(), r.memory, store.PairKey("c", "u"), &p); err != nil || len(p.Grants) != most {
			t.Errorf("%d x: %d grants are listed, %v", times, len(p.Grants), err)
		}
	}
}

func TestMaximumGrantListFitsIntoARecord(t *testing.T) {
	r := newCapRig(t, maxPerPair)
	for range maxPerPair + 1 {
		g := r.grant(secret.ID())
		g.Epochs = store.Epochs{Subject: r.at.UnixMilli(), Pair: r.at.UnixMilli()}
		r.at = r.at.Add(time.Second + 123456789)
		if err := r.beginFamily(t.Context(), g); err != nil {
			t.Fatal(err)
		}
	}
	rec, err := r.memory.Get(t.Context(), store.PairKey("c", "u"))
	if err != nil || len(rec.Value) > store.MaxValueLength*3/4 {
		t.Errorf("%d bytes, %v", len(rec.Value), err)
	}
	if r.evicted != 1 || len(r.live(t)) != maxPerPair {
		t.Errorf("%d evicted, %d live", r.evicted, len(r.live(t)))
	}
}

func TestLoweredGrantCapIsReachedGradually(t *testing.T) {
	r := newCapRig(t, 100)
	for i := range 100 {
		if err := r.beginFamily(t.Context(), r.grant(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	r.PerPair = 10
	for i := range 8 {
		before := r.evicted
		if err := r.beginFamily(t.Context(), r.grant(fmt.Sprint("new", i))); err != nil {
			t.Fatal(err)
		}
		if r.evicted-before > maxEvictions {
			t.Errorf("one request ended %d grants", r.evicted-before)
		}
	}
	if n := len(r.live(t)); n != 10 {
		t.Errorf("%d grants live, want 10", n)
	}
}

// A redemption that is under way while its pair is ended gives nobody a token, and leaves
// no grant behind.
func TestGrantOfAnEndedPairIsNotListed(t *testing.T) { // N02
	r := newCapRig(t, 5)
	e, err := ending.NewEnder(ending.Config{Store: r.memory, Revocations: deafRevoker{}, Now: r.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.EndPair(t.Context(), "c", "u"); err != nil {
		t.Fatal(err)
	}
	if err := r.beginFamily(t.Context(), r.grant("late")); why(err) != Revoked {
		t.Error(err)
	}
	if n := len(r.live(t)); n != 0 {
		t.Errorf("%d grants are left", n)
	}
}
