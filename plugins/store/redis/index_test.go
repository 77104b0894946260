package redis

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/store"
)

// moving is a clock that begins with the real time.
type moving struct {
	mu sync.Mutex
	by time.Duration
}

func (c *moving) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.by)
}

func (c *moving) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by += d
}

func lasting(id string, d time.Duration) store.Record {
	r := record(id)
	r.Expires = time.Now().Add(d)
	return r
}

func TestRedisDecidesExpiryWithoutALocalClock(t *testing.T) {
	server := redistest.Shared(t)
	o := options(t, server.URL())
	o.Watched = []store.Kind{"w"}
	b := open(t, o)
	for _, kind := range []store.Kind{"k", "w"} {
		r := lasting("a", 80*time.Millisecond)
		r.Kind = kind
		made := must2(b.Create(t.Context(), r))(t)
		if _, err := b.Create(t.Context(), r); !errors.Is(err, store.ErrExists) {
			t.Errorf("Create of a live record: %v", err)
		}
		if found, err := b.List(t.Context(), kind, "p", "", 9); err != nil || len(found) != 1 {
			t.Errorf("List: %d records, %v", len(found), err)
		}
		time.Sleep(time.Until(made.Expires) + 5*time.Millisecond)
		if _, err := b.Get(t.Context(), made.Key); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Get: %v", err)
		}
		if _, err := b.Swap(t.Context(), made); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Swap: %v", err)
		}
		if found, err := b.List(t.Context(), kind, "p", "", 9); err != nil || len(found) != 0 {
			t.Errorf("List: %d records, %v", len(found), err)
		}
		if n := server.CLI("exists", b.recordKey(made.Key)); n != "0" {
			t.Error("the key is still there")
		}
	}
}

// The crash between the entry of the index and the record.
func TestOrphanedIndexEntryIsHiddenAndExpires(t *testing.T) {
	server := redistest.Shared(t)
	clock := new(moving)
	o := options(t, server.URL())
	o.Now = clock.now
	b := open(t, o)
	must2(b.Create(t.Context(), record("there")))(t)
	if _, err := b.noteChild(t.Context(), record("lost").Key, "p", 0); err != nil {
		t.Fatal(err)
	}
	index := b.indexKeys("k", "p")[0]
	list := func(entries string) {
		t.Helper()
		if found, err := b.List(t.Context(), "k", "p", "", 9); err != nil || len(found) != 1 || found[0].ID != "there" {
			t.Errorf("List: %d records, %v", len(found), err)
		}
		if n := server.CLI("zcard", index); n != entries {
			t.Errorf("the index has %s entries, want %s", n, entries)
		}
	}
	list("2")
	clock.advance(5 * time.Minute)
	list("2") // it may be on its way
	clock.advance(6 * time.Minute)
	list("1")
}

// A frozen server executes late what it was sent before: by then the entry may be gone.
func TestRecordWrittenLateAfterItsEntryIsRefused(t *testing.T) {
	b := open(t, options(t, redistest.Shared(t).URL()))
	r := record("late")
	reply, err := scriptCreate.Run(t.Context(), b.client, []string{b.recordKey(r.Key)}, "", encodeHead(store.Record{Version: 1, Parent: "p"}, 0)+"v", 0,
		time.Now().Add(-time.Second).UnixMilli(), r.ID, r.Parent, 0, hexVersion(1), "")
	if err != nil || reply != int64(2) {
		t.Errorf("%v, %v", reply, err)
	}
	if _, err := b.Get(t.Context(), r.Key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
}

// losing undoes each entry of the index that is not written together with its record, as a
// failover to a replica that lagged does.
type losing struct{ lose func(index string) }

func (losing) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (losing) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return next
}

func (l losing) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		err := next(ctx, cmd)
		if args := cmd.Args(); err == nil && len(args) > 3 {
			if key, _ := args[3].(string); strings.Contains(key, "{p:") && strings.HasSuffix(key, "}") && strings.HasPrefix(cmd.Name(), "eval") {
				l.lose(key)
			}
		}
		return err
	}
}

func TestFailoverDuringCreateHidesNoRecord(t *testing.T) {
	server := redistest.Shared(t)
	b := open(t, options(t, server.URL()))
	b.client.AddHook(losing{func(index string) { server.CLI("del", index) }})
	made := must2(b.Create(t.Context(), lasting("a", time.Minute)))(t)
	if found, err := b.List(t.Context(), "k", "p", "", 9); err != nil || len(found) != 1 {
		t.Errorf("after Create: %d records, %v", len(found), err)
	}
	made.Expires = time.Now().Add(1000 * time.Hour)
	must2(b.Swap(t.Context(), made))(t)
	if found, err := b.List(t.Context(), "k", "p", "", 9); err != nil || len(found) != 1 {
		t.Errorf("after a longer life: %d records, %v", len(found), err)
	}
}

// An entry that cannot be written must not leave a record behind that no List finds.
func TestRecordIsNotWrittenWhenItsEntryFails(t *testing.T) {
	server := redistest.Shared(t)
	o := options(t, server.URL())
	o.Watched = []store.Kind{"w"}
	b := open(t, o)
	for _, kind := range []store.Kind{"k", "w"} {
		r := lasting("a", time.Minute)
		r.Kind = kind
		server.CLI("set", b.indexKeys(kind, "p")[0], "foreign")
		_, err := b.Create(t.Context(), r)
		technical(t, "Create", err)
		if _, err := b.Get(t.Context(), r.Key); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: Get: %v", kind, err)
		}
	}
}

// Else a failover of the part with the index leaves a record that no List finds.
func TestClusterIndexEntryIsReplicatedBeforeItsRecord(t *testing.T) {
	c := redistest.SharedCluster(t)
	o := options(t, c.URL())
	o.Replicas = 1
	b := open(t, o)
	holder := c.Holder(b.indexKeys("k", "p")[0])
	r := record("0")
	for i := 1; c.Holder(b.recordKey(r.Key)) == holder; i++ {
		r = record(fmt.Sprint(i))
	}
	must2(b.Create(t.Context(), record("warm")))(t)
	replica := c.Nodes[slices.Index(c.Nodes, holder)+len(c.Nodes)/2]
	replica.Freeze()
	thawed := sync.OnceFunc(replica.Thaw)
	defer thawed()
	_, err := b.Create(t.Context(), r)
	technical(t, "Create", err)
	thawed()
	healthy(t, b, 2*time.Second)
	if _, err := b.Get(t.Context(), r.Key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
}

func TestRefusedCreateLeavesNoLastingEntry(t *testing.T) {
	server := redistest.Shared(t)
	clock := new(moving)
	o := options(t, server.URL())
	o.Now = clock.now
	b := open(t, o)
	must2(b.Create(t.Context(), record("a")))(t)
	other := record("a")
	other.Parent = "q"
	if _, err := b.Create(t.Context(), other); !errors.Is(err, store.ErrExists) {
		t.Fatal(err)
	}
	if _, err := b.noteChild(t.Context(), other.Key, "q", 0); err != nil { // as in a cluster, where the entry comes first
		t.Fatal(err)
	}
	for range 2 {
		if found, err := b.List(t.Context(), "k", "q", "", 9); err != nil || len(found) != 0 {
			t.Errorf("the other parent lists %d records, %v", len(found), err)
		}
		clock.advance(11 * time.Minute)
	}
	if n := server.CLI("exists", b.indexKeys("k", "q")[0]); n != "0" {
		t.Error("the entry is still there")
	}
	if found, err := b.List(t.Context(), "k", "p", "", 9); err != nil || len(found) != 1 {
		t.Errorf("its own parent lists %d records, %v", len(found), err)
	}
}

// knownUntil is until when the index knows a child, zero for without end.
func knownUntil(t *testing.T, b *Backend, id string) time.Time {
	t.Helper()
	for _, entry := range orFatal(b.client.ZRange(t.Context(), b.indexKeys("k", "p")[0], 0, -1).Result())(t) {
		if orFatal(entryID(entry))(t) != id {
			continue
		}
		last := entry[len(entry)-timesLength:][:timesLength/2]
		seconds := binary.BigEndian.Uint64(append(make([]byte, 8-len(last)), last...))
		if seconds == 1<<40-1 {
			return time.Time{}
		}
		return time.Unix(int64(seconds), 0)
	}
	t.Fatalf("the index has no entry of %q", id)
	return time.Time{}
}

// Whatever Swap does to a life, the index knows the child as long.
func TestIndexOutlivesEveryRecord(t *testing.T) {
	server := redistest.Shared(t)
	b := open(t, options(t, server.URL()))
	ends := func() time.Time {
		ms, err := strconv.ParseInt(server.CLI("pexpiretime", b.indexKeys("k", "p")[0]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if ms < 0 {
			return time.Time{}
		}
		return time.UnixMilli(ms)
	}
	known := func(id string) time.Time { return knownUntil(t, b, id) }
	r := must2(b.Create(t.Context(), lasting("a", time.Minute)))(t)
	for _, d := range []time.Duration{2 * time.Minute, time.Hour, 1000 * time.Hour, time.Second, 1001 * time.Hour} {
		r.Parent = "whatever the caller says"
		r.Expires = time.Now().Add(d)
		r = must2(b.Swap(t.Context(), r))(t)
		if got := ends(); got.Before(r.Expires) {
			t.Errorf("after %v: the index ends at %v, the record at %v", d, got, r.Expires)
		}
		if known("a").Before(r.Expires) {
			t.Errorf("after %v: the entry ends before its record", d)
		}
		if r.Parent != "p" {
			t.Errorf("the parent became %q", r.Parent)
		}
	}
	// In a cluster the entry comes first, also that of a Create which is refused then.
	refused := func() {
		t.Helper()
		if _, err := b.noteChild(t.Context(), r.Key, "p", time.Now().Add(time.Minute).UnixMilli()); err != nil {
			t.Fatal(err)
		}
	}
	before := known("a")
	if refused(); known("a") != before {
		t.Error("a Create that was refused gave the entry of what lasts an earlier end")
	}
	r.Expires = time.Time{}
	r = must2(b.Swap(t.Context(), r))(t)
	if got := ends(); !got.IsZero() || !known("a").IsZero() {
		t.Errorf("the index ends at %v, the record never", got)
	}
	must2(b.Create(t.Context(), lasting("b", time.Minute)))(t)
	if got := ends(); !got.IsZero() {
		t.Errorf("a shorter life gave the index an end: %v", got)
	}
	if refused(); !known("a").IsZero() {
		t.Error("a Create that was refused gave the entry of what does not expire an end")
	}
}

func TestExpiredEntriesAreRemovedFromTheIndex(t *testing.T) {
	server := redistest.Shared(t)
	clock := new(moving)
	o := options(t, server.URL())
	o.Now = clock.now
	b := open(t, o)
	for i := range 100 {
		r := record(fmt.Sprint(i))
		r.Expires = clock.now().Add(time.Minute)
		must2(b.Create(t.Context(), r))(t)
	}
	clock.advance(3 * time.Hour)
	for i := range 3 {
		r := record(fmt.Sprint("new", i))
		r.Expires = clock.now().Add(time.Minute)
		must2(b.Create(t.Context(), r))(t)
	}
	if n := server.CLI("zcard", b.indexKeys("k", "p")[0]); n != "3" {
		t.Errorf("the index has %s entries, want 3", n)
	}
}

// Deleting and making the same child again, over and over, on several nodes: what is
// there in the end is listed.
func TestDeleteAndRecreateNeverLosesTheIndexEntry(t *testing.T) {
	o := options(t, redistest.Shared(t).URL())
	nodes := []*Backend{open(t, o), open(t, o)}
	for round := range 60 {
		r := record(fmt.Sprint(round % 3))
		var made atomic.Bool
		var both sync.WaitGroup
		both.Go(func() { _ = nodes[0].Delete(t.Context(), r.Key) })
		both.Go(func() {
			_, err := nodes[1].Create(t.Context(), r)
			made.Store(err == nil)
		})
		both.Wait()
		_, err := nodes[0].Get(t.Context(), r.Key)
		found, listErr := nodes[0].List(t.Context(), "k", "p", "", 9)
		if listErr != nil {
			t.Fatal(listErr)
		}
		listed := false
		for _, f := range found {
			listed = listed || f.ID == r.ID
		}
		if listed != (err == nil) {
			t.Fatalf("round %d: Get says %v, listed %v", round, err, listed)
		}
	}
}

func TestDamagedRecordIsAFault(t *testing.T) {
	server := redistest.Shared(t)
	b := open(t, options(t, server.URL()))
	for raw, want := range map[string]error{
		"1short":                      errDamaged,
		"2" + strings.Repeat("0", 60): errNewer,
		"1" + strings.Repeat("z", 60): errDamaged,
		"1" + strings.Repeat("0", 60): errDamaged, // version 0
		"1" + strings.Repeat("f", 16) + strings.Repeat("0", 32) + "00ff": errDamaged,
	} {
		r := record("damaged")
		server.CLI("set", b.recordKey(r.Key), raw)
		if _, err := b.Get(t.Context(), r.Key); !errors.Is(err, want) {
			t.Errorf("%.20s: Get: %v, want %v", raw, err, want)
		}
		if raw == "1"+strings.Repeat("0", 60) || strings.HasSuffix(raw, "00ff") {
			continue // a script sees nothing in the way of another record
		}
		_, err := b.Create(t.Context(), r)
		technical(t, "Create", err)
		_, err = b.Swap(t.Context(), r)
		technical(t, "Swap", err)
		// Else who asks for it again and again takes every node out of service.
		if err := b.Health(); err != nil {
			t.Errorf("%.20s: one record that cannot be read and the store is taken for broken: %v", raw, err)
		}
	}
	foreign := record("foreign")
	server.CLI("lpush", b.recordKey(foreign.Key), "a")
	_, err := b.Get(t.Context(), foreign.Key)
	technical(t, "Get", err)
	_, err = b.Swap(t.Context(), foreign)
	technical(t, "Swap", err)
	if err := b.Health(); err != nil {
		t.Errorf("Health: %v", err)
	}
}

// To confirm a record of another schema must not make it one of this.
func TestConfirmingARecordDoesNotChangeIt(t *testing.T) {
	server := redistest.Shared(t)
	b := open(t, options(t, server.URL()))
	key := b.recordKey(record("newer").Key)
	newer := "2" + strings.Repeat("0", 60)
	server.CLI("set", key, newer)
	if _, err := scriptConfirm.Run(t.Context(), b.client, []string{key}); err != nil {
		t.Fatal(err)
	}
	if got := server.CLI("get", key); got != newer {
		t.Errorf("%.20s became %.20s", newer, got)
	}
	if _, err := scriptConfirm.Run(t.Context(), b.client, []string{key + "none"}); err != nil || server.CLI("exists", key+"none") != "0" {
		t.Errorf("what is not there: %v", err)
	}
}

func TestOversizedKeysAndValuesAreRefused(t *testing.T) {
	b := open(t, options(t, redistest.Shared(t).URL()))
	long := strings.Repeat("x", store.MaxKeyLength+1)
	for _, r := range []store.Record{
		{Key: store.Key{Kind: store.Kind(long), ID: "a"}},
		{Key: store.Key{Kind: "k", ID: long}},
		{Key: store.Key{Kind: "k", ID: "a"}, Parent: long},
		{Key: store.Key{Kind: "k", ID: "a"}, Value: make([]byte, store.MaxValueLength+1)},
	} {
		if _, err := b.Create(t.Context(), r); !errors.Is(err, errTooLong) {
			t.Errorf("Create: %v, want errTooLong", err)
		}
	}
}

func TestVersionsAreNonZeroAndUnique(t *testing.T) {
	seen := make(map[uint64]bool)
	for range 4 {
		v := newVersions()
		for range 5000 {
			n := v.nextVersion()
			if n == 0 || n>>63 != 0 || seen[n] {
				t.Fatalf("%x", n)
			}
			seen[n] = true
		}
	}
}
