package grant

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

func (r *capRig) begin(t *testing.T, g store.Grant) {
	t.Helper()
	r.at = r.at.Add(time.Second)
	g.IssuedAt, g.RotatedAt = r.at, r.at
	if err := r.beginFamily(t.Context(), g); err != nil {
		t.Fatal(err)
	}
}

func (r *capRig) grantAt(client, id string) store.Grant {
	g := r.grant(id)
	g.Client = client
	return g
}

// pair is the record of the user at a client, zero for none.
func (r *capRig) pair(t *testing.T, client string) (p store.Pair, stored bool) {
	t.Helper()
	_, err := store.Read(t.Context(), r.memory, store.PairKey(client, "u"), &p)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return p, err == nil
}

// Most users have few grants: nothing is stored for them beside those.
func TestFewGrantsAreNotListed(t *testing.T) {
	r := newCapRig(t, 100)
	for i := range maxUnlisted {
		r.begin(t, r.grantAt([]string{"c", "d"}[i%2], fmt.Sprint(i)))
	}
	if n := r.memory.Len(); n != maxUnlisted {
		t.Errorf("%d records of %d grants", n, maxUnlisted)
	}
	r.begin(t, r.grantAt("c", "one more"))
	if p, _ := r.pair(t, "c"); p.Listed != store.ListsAll || len(p.Grants) != maxUnlisted/2+1 {
		t.Errorf("%d grants are listed of %d: %+v", len(p.Grants), maxUnlisted/2+1, p.Listed)
	}
	if _, stored := r.pair(t, "d"); stored {
		t.Error("a client is listed at which nothing began")
	}
	r.begin(t, r.grantAt("d", "there too"))
	if p, _ := r.pair(t, "d"); len(p.Grants) != maxUnlisted/2+1 {
		t.Errorf("%d grants are listed of %d", len(p.Grants), maxUnlisted/2+1)
	}
}

// A process ends between the two writes that begin a list.
func TestPartlyCreatedGrantListIsCompleted(t *testing.T) {
	r := newCapRig(t, maxUnlisted)
	for i := range maxUnlisted {
		r.begin(t, r.grant(fmt.Sprint(i)))
	}
	p := store.Pair{Client: "c", Subject: "u", Listed: store.ListsNew}
	if _, err := store.Create(t.Context(), r.memory, store.Record{Key: store.PairKey("c", "u"), Parent: "u", Expires: r.at.Add(time.Hour)}, &p); err != nil {
		t.Fatal(err)
	}
	r.begin(t, r.grant("next"))
	p, _ = r.pair(t, "c")
	if live := r.live(t); p.Listed != store.ListsAll || len(p.Grants) != maxUnlisted || len(live) != maxUnlisted || r.evicted != 1 {
		t.Errorf("%d listed (%d), %d live, %d evicted", len(p.Grants), p.Listed, len(live), r.evicted)
	}
	if rec, err := r.memory.Get(t.Context(), store.PairKey("c", "u")); err != nil || rec.Expires.Before(r.at.Add(24*time.Hour)) {
		t.Errorf("the list ends at %v, its grants later: %v", rec.Expires, err)
	}
}

// Earlier releases listed every grant.
func TestGrantListOfAnEarlierReleaseIsContinued(t *testing.T) {
	r := newCapRig(t, 3)
	p := store.Pair{Client: "c", Subject: "u"}
	for _, id := range []string{"a", "b"} {
		r.at = r.at.Add(time.Second)
		g := r.grant(id)
		if _, err := r.createFamily(t.Context(), g, g.Expires); err != nil {
			t.Fatal(err)
		}
		p.Grants = append(p.Grants, r.entryOf(g))
	}
	if _, err := store.Create(t.Context(), r.memory, store.Record{Key: store.PairKey("c", "u"), Parent: "u", Expires: r.at.Add(time.Hour)}, &p); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"c", "d", "e"} {
		r.begin(t, r.grant(id))
	}
	live := r.live(t)
	if p, _ = r.pair(t, "c"); len(p.Grants) != 3 || len(live) != 3 || live["c"].ID == "" || live["d"].ID == "" || live["e"].ID == "" {
		t.Errorf("%d live, listed are %+v", len(live), p.Grants)
	}
}

// between runs something once, after so many lists were read.
type between struct {
	store.Backend
	lists int
	run   func()
}

func (b *between) List(ctx context.Context, kind store.Kind, parent, after string, limit int) ([]store.Record, error) {
	all, err := b.Backend.List(ctx, kind, parent, after, limit)
	if b.lists--; b.lists == 0 {
		b.run()
	}
	return all, err
}

// A grant begins when another has just looked for those that are to be listed, and there are few again: it must see that
// there is a list now.
func TestGrantBegunWithTheListIsListed(t *testing.T) {
	r := newCapRig(t, 2)
	slow := &between{Backend: r.memory, lists: 2}
	c := r.Config
	c.Store = slow
	node := familiesOf(t, c)
	r.begin(t, r.grant("a"))
	r.begin(t, r.grant("b"))
	slow.run = func() {
		for _, id := range []string{"a", "b"} {
			if err := r.memory.Delete(t.Context(), grantKey(id)); err != nil {
				t.Fatal(err)
			}
		}
		r.begin(t, r.grant("meanwhile"))
	}
	if err := node.beginFamily(t.Context(), r.grant("listed")); err != nil {
		t.Fatal(err)
	}
	if live := r.live(t); slow.lists > 0 || len(live) != 2 {
		t.Errorf("%d grants live, want 2", len(live))
	}
	for i := range 3 {
		r.begin(t, r.grant(fmt.Sprint("later ", i)))
		if n := len(r.live(t)); n != 2 {
			t.Fatalf("%d grants live, want 2", n)
		}
	}
}
