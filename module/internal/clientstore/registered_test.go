package clientstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

const jwks = `{"keys":[{"kty":"EC","crv":"P-256","x":"1DrrMvZyaUcqvk4cJzdQBYbR3v7ftCBfBNXGkAhXtZY","y":"RF5K322MeT4gS2wyLp70GFJIuOtAEraa1tRkpUozamg"}]}`

// registration is a client as the endpoint would hand it over, with what it must not be
// able to choose.
func registration(change ...func(*oauth.Client)) *oauth.Client {
	c := &oauth.Client{
		Name: "Self", RedirectURIs: []string{"https://self.example/cb"}, Scopes: []string{"read"}, AuthMethod: "client_secret_basic",
		Grants: []oauth.GrantType{oauth.AuthorizationCode}, Trusted: true, Introspect: true, IntrospectByStatus: true, Audience: []string{"https://other.example"}, Owner: "root",
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func (r *rig) register(limit int) (*oauth.Client, error) {
	c, _, err := r.Register(r.t.Context(), registration(), secret.Digest("access"), limit)
	return c, err
}

func wantRefusal(t *testing.T, err error, code oauth.Code) {
	t.Helper()
	if e := (*oauth.Error)(nil); !errors.As(err, &e) || e.Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

func TestRegisteredClientGetsOnlyPermittedSettings(t *testing.T) {
	r := newRig(t)
	c, value, err := r.Register(t.Context(), registration(), secret.Digest("access"), 10)
	if err != nil {
		t.Fatal(err)
	}
	if !c.SelfRegistered || c.Trusted || c.Introspect || c.IntrospectByStatus || len(c.Audience) != 0 || c.Owner != "" || c.Name != "Self" || !r.knows(c.ID, value) {
		t.Errorf("%+v", c)
	}
	if c, ok, err := r.Registered(t.Context(), c.ID, secret.Digest("access")); !ok || err != nil || c.Name != "Self" {
		t.Errorf("%+v, %v, %v", c, ok, err)
	}
	operators, _ := r.create(web("operators"))
	for name, x := range map[string][2]string{
		"another token":        {c.ID, secret.Digest("other")},
		"no token":             {c.ID, ""},
		"another client":       {"c-x", secret.Digest("access")},
		"an operator's client": {operators.ID, ""},
	} {
		if _, ok, err := r.Registered(t.Context(), x[0], x[1]); ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}

func TestUnusedRegistrationExpiresAndAUsedOneStays(t *testing.T) {
	r := newRig(t)
	unused, _ := r.register(10)
	used, err := r.register(10)
	if err != nil {
		t.Fatal(err)
	}
	r.pass(24*time.Hour - time.Second)
	for range 2 {
		if err := r.Used(t.Context(), used.ID); err != nil {
			t.Fatal(err)
		}
	}
	if d, err := r.Get(t.Context(), unused.ID); err != nil || d.UnusedUntil.IsZero() {
		t.Errorf("%+v, %v", d, err)
	}
	r.pass(time.Second)
	if _, ok, err := r.Client(t.Context(), unused.ID); ok || err != nil {
		t.Errorf("the unused one: %v, %v", ok, err)
	}
	r.pass(10 * 365 * 24 * time.Hour)
	if _, ok, err := r.Client(t.Context(), used.ID); !ok || err != nil {
		t.Errorf("the used one: %v, %v", ok, err)
	}
}

func TestPlacesAreLimitedAndReleased(t *testing.T) {
	r := newRig(t)
	var ids []string
	for range 3 {
		c, err := r.register(3)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, c.ID)
	}
	_, err := r.register(3)
	wantRefusal(t, err, oauth.AccessDenied)
	if err := r.Unregister(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	_, err = r.register(3) // a place is held for a minute: its client might be on its way
	wantRefusal(t, err, oauth.AccessDenied)
	r.pass(time.Minute + time.Second)
	if _, err := r.register(3); err != nil {
		t.Fatal(err)
	}
	_, err = r.register(3)
	wantRefusal(t, err, oauth.AccessDenied)
	if err := r.Used(t.Context(), ids[1]); err != nil {
		t.Fatal(err)
	}
	r.pass(25 * time.Hour) // all but the used one have ended
	for range 2 {
		if _, err := r.register(3); err != nil {
			t.Fatal(err)
		}
	}
	_, err = r.register(3)
	wantRefusal(t, err, oauth.AccessDenied)
}

func TestClientCountStopsAtItsLimit(t *testing.T) {
	r := newRig(t)
	count := func(limit, want, wantPlaces int) {
		t.Helper()
		n, err := r.Count(t.Context(), limit)
		places, placesErr := r.Places(t.Context())
		if n != want || places != wantPlaces || err != nil || placesErr != nil {
			t.Errorf("%d clients and %d places, want %d and %d; %v, %v", n, places, want, wantPlaces, err, placesErr)
		}
	}
	count(10, 0, 0)
	for i := range 4 {
		r.create(clientstore.Definition{Client: oauth.Client{ID: fmt.Sprint("made-", i), RedirectURIs: []string{"https://app.example/cb"}}})
	}
	for range 3 {
		if _, err := r.register(3); err != nil {
			t.Fatal(err)
		}
	}
	count(10, 7, 3)
	count(5, 5, 3)
	count(3, 3, 3)
}

// slowLedger gives parallel registrations time to read the same ledger.
type slowLedger struct{ *storetest.Memory }

func (s slowLedger) Get(ctx context.Context, k store.Key) (store.Record, error) {
	r, err := s.Memory.Get(ctx, k)
	if k.Kind == store.KindLedger {
		time.Sleep(2 * time.Millisecond)
	}
	return r, err
}

func TestParallelRegistrationsOnTwoNodesKeepTheCap(t *testing.T) {
	const places = 7
	memory := slowLedger{storetest.NewMemory(nil)}
	nodes := []*rig{}
	for range 2 {
		nodes = append(nodes, newRig(t, func(c *clientstore.Config) { c.Store, c.Now = memory, nil }))
	}
	var made, refused atomic.Int64
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			_, err := nodes[i%2].register(places)
			e := (*oauth.Error)(nil)
			switch {
			case err == nil:
				made.Add(1)
			case errors.As(err, &e) && e.Code == oauth.AccessDenied:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	there, err := nodes[0].List(t.Context(), "", 100)
	if err != nil || made.Load() != places || refused.Load() != 40-places || len(there) != places {
		t.Errorf("%d made, %d refused, %d there, %v", made.Load(), refused.Load(), len(there), err)
	}
}

// crashing loses the creation of clients, as a node does that dies in between.
type crashing struct {
	*storetest.Memory
	down atomic.Bool
}

func (c *crashing) Create(ctx context.Context, r store.Record) (store.Record, error) {
	if r.Kind == store.KindClient && c.down.Load() {
		return store.Record{}, errAway
	}
	return c.Memory.Create(ctx, r)
}

func TestCrashDuringRegistrationHoldsAPlaceForAMinute(t *testing.T) {
	r := newRig(t)
	c := &crashing{Memory: r.memory}
	crash := newRig(t, func(config *clientstore.Config) { config.Store, config.Now = c, r.now })
	c.down.Store(true)
	if _, err := crash.register(1); !errors.Is(err, errAway) {
		t.Fatal(err)
	}
	c.down.Store(false)
	_, err := crash.register(1)
	wantRefusal(t, err, oauth.AccessDenied)
	r.pass(2 * time.Minute)
	if _, err := crash.register(1); err != nil {
		t.Fatal(err)
	}
}

func TestLedgerFitsTheMaximumRegistrations(t *testing.T) {
	l := store.RegistrationLedger{Places: map[string]int64{}}
	for range clientstore.MaxRegistered {
		l.Places["c-"+secret.ID()] = 1_900_000_000
	}
	value, err := store.Encode(&l)
	if err != nil || len(value) > store.MaxValueLength {
		t.Errorf("%d bytes, at most %d fit, %v", len(value), store.MaxValueLength, err)
	}
}

func TestClientUpdatesItsRegistration(t *testing.T) {
	r := newRig(t)
	c, value, err := r.Register(t.Context(), registration(), secret.Digest("access"), 10)
	if err != nil {
		t.Fatal(err)
	}
	c2, err := r.Reregister(t.Context(), c.ID, registration(func(c *oauth.Client) { c.Name, c.Scopes = "New", []string{"write"} }))
	if err != nil || c2.Name != "New" || !slices.Equal(c2.Scopes, []string{"write", "offline_access"}) || c2.Trusted || !c2.SelfRegistered || !r.knows(c.ID, value) {
		t.Errorf("%+v, %v", c2, err)
	}
	if d, _ := r.Get(t.Context(), c.ID); d.UnusedUntil.IsZero() {
		t.Error("a change is no use: the registration would stay for ever")
	}
	_, err = r.Reregister(t.Context(), c.ID, registration(func(c *oauth.Client) { c.Public, c.AuthMethod = true, "" }))
	wantRefusal(t, err, oauth.InvalidClientMetadata)
	_, err = r.Reregister(t.Context(), "c-gone", registration())
	wantRefusal(t, err, oauth.InvalidToken)
	wantRefusal(t, r.Unregister(t.Context(), "c-gone"), oauth.InvalidToken)

	keyed, err := r.Reregister(t.Context(), c.ID, registration(func(c *oauth.Client) { c.AuthMethod, c.JWKS = oauth.PrivateKeyJWT, jwks }))
	if err != nil || len(keyed.SecretHashes) != 0 || r.knows(c.ID, value) {
		t.Errorf("the secret must end with the change to keys: %+v, %v", keyed, err)
	}
	_, err = r.Reregister(t.Context(), c.ID, registration())
	wantRefusal(t, err, oauth.InvalidClientMetadata)
}

func TestInvalidRegistrationTakesNoPlace(t *testing.T) {
	r := newRig(t)
	for range 3 {
		_, _, err := r.Register(t.Context(), registration(func(c *oauth.Client) { c.Scopes = []string{"admin"} }), "d", 1)
		wantRefusal(t, err, oauth.InvalidClientMetadata)
	}
	if _, err := r.register(1); err != nil {
		t.Error(err)
	}
}

// Whoever deletes again, because the first time failed, takes "there is none" for done.
func TestDeletedClientIsGoneOnceAReplicaHasIt(t *testing.T) {
	r, alone := newRig(t), errors.New("no replica")
	d, _ := r.create(clientstore.Definition{Client: oauth.Client{RedirectURIs: []string{"https://app.example/cb"}, Scopes: []string{"read"}}})
	r.memory.LoseReplicas(alone)
	for range 2 {
		if err := r.Delete(t.Context(), d.ID); !errors.Is(err, alone) {
			t.Errorf("Delete without a replica: %v", err)
		}
	}
	if _, ok, err := r.Registered(t.Context(), d.ID, "digest"); ok || !errors.Is(err, alone) {
		t.Errorf("Registered without a replica: %v, %v", ok, err)
	}
	r.memory.LoseReplicas(nil)
	if err := r.Delete(t.Context(), d.ID); !errors.Is(err, clientstore.ErrNotFound) {
		t.Errorf("Delete: %v", err)
	}
	if _, ok, err := r.Registered(t.Context(), d.ID, "digest"); ok || err != nil {
		t.Errorf("Registered: %v, %v", ok, err)
	}
}
