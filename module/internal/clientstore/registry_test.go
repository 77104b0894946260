package clientstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// countingStore counts what is asked of a store.
type countingStore struct {
	*storetest.Memory
	gets, lists atomic.Int64
	slow        time.Duration
}

func (c *countingStore) Get(ctx context.Context, k store.Key) (store.Record, error) {
	c.gets.Add(1)
	time.Sleep(c.slow)
	return c.Memory.Get(ctx, k)
}

func (c *countingStore) List(ctx context.Context, kind store.Kind, parent, after string, limit int) ([]store.Record, error) {
	c.lists.Add(1)
	return c.Memory.List(ctx, kind, parent, after, limit)
}

type noRevoker struct{}

func (noRevoker) Revoke(context.Context, store.Revocation) error { return nil }

// sideBySide has the configured client "web" and, in the store, what a test puts there.
func sideBySide(t *testing.T) (*Registry, *countingStore) {
	t.Helper()
	memory := &countingStore{Memory: storetest.NewMemory(nil)}
	web := &oauth.Client{ID: "web", Name: "configured", Origins: []string{"https://web.example"}}
	all, err := NewRegistry([]*oauth.Client{web}, Config{Store: memory, Revocations: noRevoker{}}, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return all, memory
}

func keep(t *testing.T, c *Registry, d Definition) {
	t.Helper()
	if d.RedirectURIs == nil {
		d.RedirectURIs = []string{"https://" + d.ID + ".example/cb"}
	}
	if _, _, err := c.Stored.Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

// allowed are those of the origins asked about that may call.
func allowed(c *Registry, asked ...string) []string {
	return slices.DeleteFunc(asked, func(o string) bool { return !c.AllowsOrigin(o) })
}

func TestConfiguredClientShadowsAStoredOne(t *testing.T) {
	c, _ := sideBySide(t)
	keep(t, c, Definition{Client: oauth.Client{ID: "stored"}})
	if _, _, err := c.Stored.Create(t.Context(), Definition{Client: oauth.Client{ID: "web"}}); !errors.Is(err, ErrExists) {
		t.Errorf("an id of the configuration was taken: %v", err)
	}
	old := c.Configured["web"]
	delete(c.Configured, "web")
	keep(t, c, Definition{Client: oauth.Client{ID: "web", Name: "stored"}})
	c.Configured["web"] = old
	for id, want := range map[string]string{"web": "configured", "stored": ""} {
		if got, ok, err := c.Client(t.Context(), id); !ok || err != nil || got.Name != want {
			t.Errorf("%s: %+v, %v, %v", id, got, ok, err)
		}
	}
	if _, ok, err := c.Client(t.Context(), "nobody"); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

func TestStoredClientChangesAreKnownWithinTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, memory := sideBySide(t)
		origins := func() []string {
			return allowed(c, "https://web.example", "https://more.example", "https://spa.example", "https://till.example", "https://other.example")
		}
		if got := origins(); !slices.Equal(got, c.origins) {
			t.Errorf("%v", got)
		}
		year := time.Now().AddDate(1, 0, 0).Format(time.DateOnly)
		keep(t, c, Definition{Client: oauth.Client{ID: "spa", Public: true, Origins: []string{"https://more.example"}}})
		keep(t, c, Definition{Client: oauth.Client{ID: "till"}, DeprecatedGrants: map[string]string{"password": year, "implicit": "2000-01-01"}})
		time.Sleep(surveyEvery)
		want := []string{"https://web.example", "https://more.example", "https://spa.example"}
		for range 50 {
			if got := origins(); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
			if got := c.OptionalGrants(); !slices.Equal(got, []oauth.GrantType{oauth.Password}) {
				t.Errorf("%v", got)
			}
		}
		// Two surveys of three grant types, one check of the index, of two parents, and four origins asked for twice.
		if n := memory.lists.Load(); n > 2*3+2+8 {
			t.Errorf("%d lists for some hundred questions", n)
		}
		memory.Fail(errors.New("away"))
		time.Sleep(surveyEvery)
		if got := origins(); !slices.Equal(got, want) {
			t.Errorf("without the store: %v", got)
		}
	})
}

// M02: who has it, of which kind, and what it costs to know.
func TestDeviceGrantIsOfferedWhileAClientHasIt(t *testing.T) {
	device := []oauth.GrantType{oauth.DeviceCode}
	synctest.Test(t, func(t *testing.T) {
		c, memory := sideBySide(t)
		want := func(want []oauth.GrantType) {
			t.Helper()
			for range 50 {
				if got := c.OptionalGrants(); !slices.Equal(got, want) {
					t.Fatalf("%v, want %v", got, want)
				}
			}
		}
		want(nil)
		keep(t, c, Definition{Client: oauth.Client{ID: "spa", Public: true}})
		keep(t, c, Definition{Client: oauth.Client{ID: "tv", Public: true, Grants: []oauth.GrantType{"device_code"}}})
		time.Sleep(surveyEvery)
		want(device)
		time.Sleep(surveyEvery)
		memory.Fail(errors.New("away"))
		want(device)
		memory.Fail(nil)
		if err := c.Stored.Delete(t.Context(), "tv"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(surveyEvery)
		want(nil)
		if n := memory.lists.Load(); n > 4*3+2 {
			t.Errorf("%d lists for 200 questions", n)
		}
		c.until.addClient(&oauth.Client{Grants: device})
		want(device)
	})
}

func TestDeprecatedGrantIsOfferedUntilItsEnd(t *testing.T) {
	c, _ := sideBySide(t)
	now := time.Now()
	for _, end := range []time.Duration{time.Hour, -time.Hour} { // the later end counts, in whatever order
		c.until.addClient(&oauth.Client{
			Grants: []oauth.GrantType{oauth.Password, oauth.Implicit},
			Until:  map[oauth.GrantType]time.Time{oauth.Password: now.Add(end), oauth.Implicit: now.Add(-time.Hour)},
		})
	}
	c.until.addClient(&oauth.Client{Until: map[oauth.GrantType]time.Time{oauth.Implicit: now.Add(time.Hour)}}) // which has not the grant
	if got := c.OptionalGrants(); !slices.Equal(got, []oauth.GrantType{oauth.Password}) {
		t.Errorf("%v", got)
	}
	c.until.addClient(&oauth.Client{Grants: []oauth.GrantType{oauth.Implicit}}) // nor a day on which it ends
	if got := c.OptionalGrants(); !slices.Equal(got, []oauth.GrantType{oauth.Password}) {
		t.Errorf("%v", got)
	}
}

// The last of many clients in the store may use its grant types as the first, and nobody reads them all to know.
func TestEveryStoredClientsGrantIsOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const clients = 1500
		c, memory := sideBySide(t)
		for i := range clients {
			keep(t, c, Definition{Client: oauth.Client{ID: fmt.Sprintf("c%05d", i), Public: true}})
		}
		if got := c.OptionalGrants(); got != nil {
			t.Errorf("%v", got)
		}
		soon := time.Now().Add(25 * time.Hour).Format(time.DateOnly)
		keep(t, c, Definition{Client: oauth.Client{ID: "till"}, DeprecatedGrants: map[string]string{"implicit": soon}})
		keep(t, c, Definition{Client: oauth.Client{ID: "tv", Public: true, Grants: []oauth.GrantType{oauth.DeviceCode}}})
		time.Sleep(surveyEvery)
		memory.lists.Store(0)
		memory.gets.Store(0)
		if got := c.OptionalGrants(); !slices.Equal(got, []oauth.GrantType{oauth.DeviceCode, oauth.Implicit}) {
			t.Errorf("%v", got)
		}
		if lists, gets := memory.lists.Load(), memory.gets.Load(); lists != 3 || gets != 2 {
			t.Errorf("%d lists and %d reads", lists, gets)
		}
		time.Sleep(48 * time.Hour) // behind the date, until which nobody has looked
		c.OptionalGrants()
		synctest.Wait()
		if got := c.OptionalGrants(); !slices.Equal(got, []oauth.GrantType{oauth.DeviceCode}) {
			t.Errorf("%v after the end", got)
		}
		err := c.Stored.Update(t.Context(), "till", func(d *Definition) error {
			d.DeprecatedGrants = map[string]string{"implicit": "2999-01-01"}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(surveyEvery)
		if got := c.OptionalGrants(); !slices.Equal(got, []oauth.GrantType{oauth.DeviceCode, oauth.Implicit}) {
			t.Errorf("%v with a later end", got)
		}
	})
}

// Who may register could else stop the scripts and the deprecated grants of clients that
// an operator made.
func TestRegistrationsDisplaceNoClientInTheSurvey(t *testing.T) {
	c, _ := sideBySide(t)
	keep(t, c, Definition{Client: oauth.Client{ID: "zoo", Public: true}})
	keep(t, c, Definition{Client: oauth.Client{ID: "zoo-till"}, DeprecatedGrants: map[string]string{"password": "2999-01-01"}})
	self := &oauth.Client{Public: true, RedirectURIs: []string{"https://self.example/cb"}, Grants: []oauth.GrantType{oauth.AuthorizationCode}}
	const registered = 1000
	for range registered {
		if _, _, err := c.Stored.Register(t.Context(), self, "digest", 2*registered); err != nil {
			t.Fatal(err)
		}
	}
	for _, origin := range []string{"https://zoo.example", "https://self.example"} {
		if !c.AllowsOrigin(origin) {
			t.Error(origin)
		}
	}
	if got := c.OptionalGrants(); !slices.Equal(got, []oauth.GrantType{oauth.Password}) {
		t.Errorf("%v", got)
	}
}

func TestGuardCachesStoredClientLookups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, memory := sideBySide(t)
		keep(t, c, Definition{Client: oauth.Client{ID: "stored"}})
		want := func(id string, want bool, gets int64) {
			t.Helper()
			memory.gets.Store(0)
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if there, err := c.Exists(t.Context(), id); there != want || err != nil {
						t.Errorf("%s: %v, %v", id, there, err)
					}
				})
			}
			all.Wait()
			if n := memory.gets.Load(); n != gets {
				t.Errorf("%s: the store was asked %d times, want %d", id, n, gets)
			}
		}
		memory.slow = 100 * time.Millisecond
		want("stored", true, 1)
		want("stored", true, 0)
		want("gone", false, 1)
		want("gone", false, 0)
		if err := c.Stored.Delete(t.Context(), "stored"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(seenFor)
		want("stored", false, 1)
	})
}

func TestStoreFaultIsNotAnUnknownClient(t *testing.T) {
	c, memory := sideBySide(t)
	away := errors.New("away")
	memory.Fail(away)
	if there, err := c.Exists(t.Context(), "stored"); there || !errors.Is(err, away) {
		t.Errorf("%v, %v", there, err)
	}
	if _, ok, err := c.Client(t.Context(), "stored"); ok || !errors.Is(err, away) {
		t.Errorf("%v, %v", ok, err)
	}
	if _, ok, err := c.Client(t.Context(), "web"); !ok || err != nil {
		t.Errorf("a configured client does not need the store: %v, %v", ok, err)
	}
	memory.Fail(nil)
	keep(t, c, Definition{Client: oauth.Client{ID: "stored"}})
	if there, err := c.Exists(t.Context(), "stored"); !there || err != nil {
		t.Errorf("a fault was remembered: %v, %v", there, err)
	}
}

// N17: guards go on without the store, for the clients in it too.
func TestStoredClientIsTrustedDuringAStoreOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, memory := sideBySide(t)
		keep(t, c, Definition{Client: oauth.Client{ID: "stored"}})
		want := func(id string, want bool, wantErr bool) {
			t.Helper()
			if there, err := c.Exists(t.Context(), id); there != want || (err != nil) != wantErr {
				t.Errorf("%s: %v, %v", id, there, err)
			}
		}
		want("stored", true, false)
		want("gone", false, false)
		time.Sleep(time.Hour)
		memory.Fail(errors.New("away"))
		want("unseen", false, true)
		memory.gets.Store(0)
		for range 29 {
			want("stored", true, false)
			want("gone", false, true)
			time.Sleep(time.Second)
		}
		if n := memory.gets.Load(); n > 29+11 {
			t.Errorf("the store that is away was asked %d times", n)
		}
		time.Sleep(3 * time.Second)
		want("stored", false, true)
		memory.Fail(nil)
		want("stored", true, false)
		time.Sleep(seenFor)
		memory.Fail(errors.New("away again"))
		want("stored", true, false)
		memory.Fail(nil)
		if err := c.Stored.Delete(t.Context(), "stored"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(seenFor)
		want("stored", false, false)
	})
}

func TestCancelledLookupDoesNotWaitForTheStore(t *testing.T) {
	c, memory := sideBySide(t)
	memory.slow = 50 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Exists(ctx, "stored"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestStoredClientCacheIsLimited(t *testing.T) {
	const most = 500
	for _, times := range []int{1, 2, 10} {
		c, memory := sideBySide(t)
		c.mostSeen = most
		keep(t, c, Definition{Client: oauth.Client{ID: "stored"}})
		if there, err := c.Exists(t.Context(), "stored"); !there || err != nil {
			t.Fatal(there, err)
		}
		for i := range times * most {
			if _, err := c.Exists(t.Context(), fmt.Sprint("c", i)); err != nil {
				t.Fatal(err)
			}
			if len(c.seen) > most {
				t.Fatalf("%d x: %d are held", times, len(c.seen))
			}
		}
		memory.Fail(errors.New("away"))
		if there, err := c.Exists(t.Context(), "stored"); !there || err != nil {
			t.Errorf("%d x: a client that was seen is refused without the store: %t, %v", times, there, err)
		}
	}
}

func TestLookupsOfUnknownClientsEvictNoKnownOnes(t *testing.T) {
	const most, real = 100, 60
	at := time.Unix(1_900_000_000, 0)
	for _, times := range []int{1, 2, 10} {
		seen := make(map[string]sighting)
		for i := range real {
			remember(seen, fmt.Sprint("real ", i), sighting{at: at, there: true}, most)
		}
		for i := range times * most {
			remember(seen, fmt.Sprint("made up ", i), sighting{at: at.Add(time.Hour)}, most)
		}
		for i := range real {
			if !seen[fmt.Sprint("real ", i)].there {
				t.Errorf("%d x: number %d is forgotten", times, i)
			}
		}
		for i := range times * most {
			id := fmt.Sprint("new ", i)
			if remember(seen, id, sighting{at: at.Add(2 * time.Hour), there: true}, most); !seen[id].there || len(seen) > most {
				t.Fatalf("%d x: new number %d is there: %t, %d are held", times, i, seen[id].there, len(seen))
			}
		}
	}
}

func TestClientCacheHitAllocatesNothing(t *testing.T) {
	c, _ := sideBySide(t)
	keep(t, c, Definition{Client: oauth.Client{ID: "stored"}})
	ctx := t.Context()
	if _, err := c.Exists(ctx, "stored"); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Exists(ctx, "stored") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
