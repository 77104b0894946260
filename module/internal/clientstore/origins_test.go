package clientstore

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestEveryStoredClientsOriginIsAllowed(t *testing.T) {
	const clients = 1500
	c, memory := sideBySide(t)
	for i := range clients {
		keep(t, c, Definition{Client: oauth.Client{ID: fmt.Sprintf("c%05d", i), Public: true}})
	}
	memory.lists.Store(0)
	for i := range clients {
		if origin := fmt.Sprintf("https://c%05d.example", i); !c.AllowsOrigin(origin) {
			t.Fatal(origin)
		}
	}
	if n := memory.lists.Load(); n > clients+2+clients/checkPage+2 {
		t.Errorf("%d lists for %d origins", n, clients)
	}
	memory.lists.Store(0)
	memory.gets.Store(0)
	if c.AllowsOrigin("https://nobody.example") || memory.lists.Load() != 1 || memory.gets.Load() != 0 {
		t.Errorf("an unknown origin cost %d lists and %d reads", memory.lists.Load(), memory.gets.Load())
	}
	for _, never := range []string{"", "null", "nobody", "https://nobody.example/", "HTTPS://nobody.example", fmt.Sprintf("https://%0*d.example", maxOrigin, 1)} {
		if c.AllowsOrigin(never) || memory.lists.Load() != 1 {
			t.Errorf("the store was asked for %.40q", never)
		}
	}
}

// indexed counts the records of these origins.
func indexed(t *testing.T, memory *countingStore, origins ...string) (n int) {
	t.Helper()
	for _, origin := range origins {
		page, err := memory.Memory.List(t.Context(), store.KindOrigin, store.OriginParent(origin), "", 100)
		if err != nil {
			t.Fatal(err)
		}
		n += len(page)
	}
	return n
}

func TestOriginIsAllowedWhileAClientHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, memory := sideBySide(t)
		const origin, other = "https://app.example", "https://other.example"
		want := func(want ...string) {
			t.Helper()
			time.Sleep(surveyEvery)
			if got := allowed(c, origin, other); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}
		set := func(id string, origins ...string) {
			t.Helper()
			err := c.Stored.Update(t.Context(), id, func(d *Definition) error { d.Origins = origins; return nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		want()
		for _, id := range []string{"a", "b"} {
			keep(t, c, Definition{Client: oauth.Client{ID: id, Origins: []string{origin}}})
		}
		want(origin)
		set("a", other)
		want(origin, other)
		if err := c.Stored.Delete(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		want(other)
		set("a")
		want()
		time.Sleep(time.Minute)
		if n := indexed(t, memory, origin, other); n != 0 {
			t.Errorf("%d records of origins are left", n)
		}
		set("a", origin, other)
		set("a", other)
		set("a", origin) // again, before its former record has expired
		want(origin)
		time.Sleep(time.Minute)
		want(origin)
		memory.Fail(errors.New("away"))
		want(origin) // as it was known last
	})
}

// A registration that nobody uses ends with its record, and its origins with it.
func TestOriginOfARegistrationExpiresWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, memory := sideBySide(t)
		self := &oauth.Client{Public: true, RedirectURIs: []string{"https://self.example/cb"}, Grants: []oauth.GrantType{oauth.AuthorizationCode}}
		var ids []string
		for range 2 {
			made, _, err := c.Stored.Register(t.Context(), self, "digest", 10)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, made.ID)
		}
		if err := c.Stored.Used(t.Context(), ids[0]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(unusedLife + time.Minute)
		if n := indexed(t, memory, "https://self.example"); !c.AllowsOrigin("https://self.example") || n != 1 {
			t.Errorf("%d records of origins", n)
		}
	})
}

// Clients of earlier releases have no records of their origins.
func TestOriginsWithoutARecordAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, memory := sideBySide(t)
		add := func(id string) string {
			origin := "https://" + id + ".example"
			k := store.Client{Client: oauth.Client{ID: id, Origins: []string{origin}}}
			_, err := store.Create(t.Context(), memory, store.Record{Key: clientKey(id), Parent: store.ClientParent}, &k)
			if err != nil {
				t.Fatal(err)
			}
			return origin
		}
		var all []string
		for i := range 3 * checkPage {
			all = append(all, add(fmt.Sprint("old-", i)))
		}
		if got := allowed(c, slices.Clone(all)...); len(got) != len(all) {
			t.Errorf("%d of %d origins at once", len(got), len(all))
		}
		late := add("made-by-a-node-of-the-earlier-release")
		time.Sleep(checkEvery + checkLease)
		c.AllowsOrigin("https://nobody.example")
		synctest.Wait()
		if !c.AllowsOrigin(late) {
			t.Error("not found by the next check")
		}
	})
}

// The node that had begun the first check is gone, and the others must not wait an hour for it.
func TestUnfinishedCheckOfTheIndexIsRepeatedByAnotherNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, memory := sideBySide(t)
		k := store.Client{Client: oauth.Client{ID: "old", Origins: []string{"https://old.example"}, Grants: []oauth.GrantType{oauth.DeviceCode}}}
		_, err := store.Create(t.Context(), memory, store.Record{Key: clientKey(k.ID), Parent: store.ClientParent}, &k)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Stored.changeIndex(t.Context(), func(v *store.OriginIndex) bool { v.Lease = time.Now().Add(checkLease); return true }); err != nil {
			t.Fatal(err)
		}
		if err := c.Stored.checkIndex(t.Context()); !errors.Is(err, errChecking) {
			t.Errorf("beside a node that checks: %v", err)
		}
		c.AllowsOrigin("https://old.example")
		c.OptionalGrants()
		for range 2 {
			time.Sleep(checkLease + surveyEvery)
			c.AllowsOrigin("https://old.example")
			c.OptionalGrants()
			synctest.Wait()
		}
		time.Sleep(surveyEvery)
		if !c.AllowsOrigin("https://old.example") || !slices.Equal(c.OptionalGrants(), []oauth.GrantType{oauth.DeviceCode}) {
			t.Errorf("the client is not found two minutes later: %v", c.OptionalGrants())
		}
	})
}

func TestOriginCacheIsLimited(t *testing.T) {
	for _, times := range []int{1, 2, 10} {
		c, memory := sideBySide(t)
		keep(t, c, Definition{Client: oauth.Client{ID: "known", Public: true}})
		if !c.AllowsOrigin("https://known.example") {
			t.Fatal("a stored client's origin is refused")
		}
		for i := range maxOrigins * times {
			c.AllowsOrigin(fmt.Sprintf("https://o%d.example", i))
		}
		keep(t, c, Definition{Client: oauth.Client{ID: "app", Public: true}})
		if len(c.seenOrigins) > maxOrigins || !c.AllowsOrigin("https://app.example") {
			t.Fatalf("%d x: %d are held", times, len(c.seenOrigins))
		}
		memory.Fail(errors.New("away"))
		if !c.AllowsOrigin("https://known.example") {
			t.Errorf("%d x: an origin that was seen is refused without the store", times)
		}
	}
}

// A flood of made-up origins takes all turns at the store, and all room for what is remembered.
func TestOriginFloodLeavesKnownOriginsAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := sideBySide(t)
		keep(t, c, Definition{Client: oauth.Client{ID: "known", Public: true}})
		if !c.AllowsOrigin("https://known.example") {
			t.Fatal("a stored client's origin is refused")
		}
		time.Sleep(time.Millisecond) // nothing is older than what is known
		for i := range 2 * maxOrigins {
			c.AllowsOrigin(fmt.Sprintf("https://o%d.example", i))
		}
		for range originQuestions {
			c.originTurns <- struct{}{}
		}
		time.Sleep(surveyEvery)
		if begun := time.Now(); !c.AllowsOrigin("https://known.example") || time.Since(begun) > originWait {
			t.Errorf("refused, or answered only after %v", time.Since(begun))
		}
	})
}
