package revocationlist

import (
	"strconv"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// folding is a set with a clock that is set by hand.
type folding struct {
	*set
	began, now time.Time
}

func newFolding(limit int) *folding {
	began := time.Unix(1_800_000_000, 0)
	f := &folding{began: began, now: began}
	f.set = newSet(limit, func() time.Duration { return f.now.Sub(began) })
	return f
}

// revoke puts a revocation of this moment in force for an hour.
func (f *folding) revoke(rv store.Revocation) {
	rv.At = f.now
	f.add(kindOf(rv.Of), rv, f.now.Add(time.Hour), f.now)
}

func (f *folding) token(id, client string) {
	f.revoke(store.Revocation{Of: store.RevokeToken, Value: id, Client: client})
}

// One client beyond the limit is that client's business: marks, users and clients that were ended, and tokens of
// clients that nobody knows, stay as they are.
func TestOneClientsRevocationFloodFoldsOnlyItsOwn(t *testing.T) {
	f := newFolding(1000)
	f.token("small's", "small")
	f.token("someone's", "")
	f.revoke(store.Revocation{Of: store.RevokeClient, Value: "deleted"})
	f.revoke(store.Revocation{Of: store.RevokeSubject, Value: "locked", Epoch: 7})
	f.revoke(store.Revocation{Of: store.RevokePair, Value: store.PairID("shop", "bob"), Epoch: 7, Client: "shop"})
	began := f.now
	for i := range 3000 {
		f.now = f.now.Add(time.Second)
		f.token("flood-"+strconv.Itoa(i), "flood")
		if i%100 == 0 {
			f.token("small-"+strconv.Itoa(i), "small-"+strconv.Itoa(i))
		}
		if f.revokes(&Token{ID: "x", Client: "third", Subject: "ann", IssuedAt: began}) {
			t.Fatalf("after %d revocations a token of another client is refused", i)
		}
	}
	for _, token := range []Token{
		{ID: "small's", Client: "small", IssuedAt: began}, {ID: "someone's", IssuedAt: began}, {ID: "x", Client: "deleted", IssuedAt: began},
		{ID: "x", Subject: "locked", IssuedAt: f.now}, {ID: "x", Client: "shop", Subject: "bob", IssuedAt: began}, {ID: "x", Client: "flood", IssuedAt: began},
	} {
		if !f.revokes(&token) {
			t.Errorf("%+v is valid again", token)
		}
	}
	if f.revokes(&Token{ID: "x", Client: "flood", IssuedAt: f.now}) || f.size > f.limit {
		t.Errorf("a new token of the client is refused, or %d are held", f.size)
	}
}

// When marks and users that were ended fill the set, a revocation does not fold at once: what its client is issued a
// moment later would be refused.
func TestClientlessRevocationsLeaveRoomForOthers(t *testing.T) {
	f := newFolding(800)
	for i := range 2000 {
		f.now = f.now.Add(time.Second)
		f.revoke(store.Revocation{Of: store.RevokeSubject, Value: strconv.Itoa(i), Epoch: int64(i + 1)})
	}
	for i := range 1000 {
		f.now = f.now.Add(time.Second)
		f.token("t"+strconv.Itoa(i), "shop")
		if f.revokes(&Token{ID: "x", Client: "shop", IssuedAt: f.now}) {
			t.Fatalf("a token of this moment is refused after %d revocations of others", i+1)
		}
	}
	if f.size > f.limit {
		t.Errorf("%d are held", f.size)
	}
}

// The addition that forgets the last of a surge gives its memory back, and names its own client all the same.
func TestFirstRevocationAfterASurgeFoldsForItsClient(t *testing.T) {
	f := newFolding(chunkSize + 1000)
	for i := range chunkSize + 500 {
		f.token("surge-"+strconv.Itoa(i), "client-"+strconv.Itoa(i%10))
	}
	f.now = f.now.Add(65 * time.Minute)
	f.prune(chunkSize)
	issued := f.now
	f.token("victim", "client-9") // forgets the rest
	if len(f.chunks) != 1 {
		t.Fatalf("%d chunks after the surge", len(f.chunks))
	}
	f.now = f.now.Add(2 * time.Minute)
	for i := range f.limit + 5 {
		f.now = f.now.Add(time.Millisecond)
		f.token("more-"+strconv.Itoa(i), "other")
	}
	if f.folded == 0 || !f.revokes(&Token{ID: "victim", Client: "client-9", IssuedAt: issued}) {
		t.Errorf("the revoked token is valid again, %d were folded", f.folded)
	}
	if f.revokes(&Token{ID: "x", Client: "honest", IssuedAt: issued}) {
		t.Error("a token of a client that revoked nothing is refused")
	}
}

// Names of clients of which nothing is held leave room for others, however many they were and though something else is
// held all the time.
func TestFoldedClientNamesAreReused(t *testing.T) {
	f := newFolding(1000)
	f.revoke(store.Revocation{Of: store.RevokeKey, Value: "leaked"})
	for i := range maxClients + 1000 {
		f.now = f.now.Add(10 * time.Second) // 360 are alive
		f.token("t", "client-"+strconv.Itoa(i))
		f.token("t"+strconv.Itoa(i), "client-"+strconv.Itoa(i))
	}
	if n := len(f.clientOf); n > 1000 || len(f.clients) > 1001 {
		t.Fatalf("%d names of clients, of %d", n, len(f.clients))
	}
	began := f.now
	f.now = f.now.Add(2 * time.Minute)
	for i := range 2000 {
		f.token("more-"+strconv.Itoa(i), "flood")
	}
	if f.revokes(&Token{ID: "x", Client: "other", IssuedAt: began}) {
		t.Error("a flood of one client has folded for everyone")
	}
}

// Beyond the names that fit, an entry is one of no client; it gives no number back that it does not have.
func TestRevocationsBeyondTheNameCapAreUnnamed(t *testing.T) {
	f := newFolding(2 * maxClients)
	began := f.now
	f.now = f.now.Add(2 * time.Minute)
	for i := range maxClients + 100 {
		f.token("t"+strconv.Itoa(i), "client-"+strconv.Itoa(i))
	}
	if len(f.clients) != maxClients || len(f.unnamed.order) != 101 { // the first place is nobody's
		t.Errorf("%d names, %d entries without", len(f.clients), len(f.unnamed.order))
	}
	if f.revokes(&Token{ID: "x", Client: "client-1", IssuedAt: began}) {
		t.Error("folded below the limit")
	}
	f.now = f.now.Add(2 * time.Hour)
	for range 200 {
		f.prune(pruneStep)
	}
	if f.size != 0 || len(f.clientOf) != 0 || len(f.clients) != 1 {
		t.Errorf("%d entries and %d names when all have expired", f.size, len(f.clientOf))
	}
}
