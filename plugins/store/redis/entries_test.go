package redis

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/store"
)

// anyID draws digests, what nearly is one, and others.
func anyID(t *rapid.T) string {
	digest := hex.EncodeToString(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
	switch rapid.IntRange(0, 4).Draw(t, "form") {
	case 0:
		return digest
	case 1:
		return digest[:rapid.IntRange(0, 63).Draw(t, "length")] + rapid.SampledFrom([]string{"", "!", "G", "g", "\x00", "0", "~", "é"}).Draw(t, "more")
	case 2:
		return digest + rapid.SampledFrom([]string{"0", "!", "g"}).Draw(t, "more")
	case 3:
		return rapid.SampledFrom([]string{"", "\x00", "\x00\x00", "\x01", "\x01\x01", "\x02", "a", "a\x00", "a\x00b", "a\x01", "ab", "\xff", "i", "h", "t"}).Draw(t, "odd")
	}
	return rapid.String().Draw(t, "text")
}

// orFatal returns v unless there is an error.
func orFatal[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// behind says whether an entry is in a range that begins at from.
func behind(entry, from string) bool {
	return entry > from[1:] || from[0] == '[' && entry == from[1:]
}

func TestEntriesSortAndParseLikeTheirIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyID(t), anyID(t)
		nameA, nameB := entryName(a), entryName(b)
		if a != b && strings.HasPrefix(nameB, nameA) {
			t.Fatalf("the name of %q begins with that of %q", b, a)
		}
		times := string(rapid.SliceOfN(rapid.Byte(), timesLength, timesLength).Draw(t, "times"))
		if id, err := entryID(nameA + times); id != a || err != nil {
			t.Fatalf("%q came back as %q, %v", a, id, err)
		}
		if nameA[0] == nameB[0] && (a < b) != (nameA+times < nameB+"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff") && a != b {
			t.Fatalf("%q and %q sort otherwise than their names", a, b)
		}
		from := textsBehind(b)
		if nameA[:1] == digestForm {
			from = digestsBehind(b)
		}
		if behind(nameA+times, from) != (a > b) && a != "" { // "" is no ID; List begins with it
			t.Fatalf("behind %q: %q is wrongly in or out", b, a)
		}
	})
}

// More than Redis keeps in one piece, in all forms, page by page.
func TestPagesOfMixedKeysAreOrdered(t *testing.T) {
	b := open(t, options(t, redistest.Shared(t).URL()))
	var want []string
	for i := range 300 {
		id := fmt.Sprintf("%064x", i*0x10001)
		switch i % 3 {
		case 1:
			id = fmt.Sprintf("%x", i*7919)
		case 2:
			id = fmt.Sprint("u-", i)
		}
		want = append(want, id)
		must2(b.Create(t.Context(), lasting(id, time.Hour)))(t)
	}
	slices.Sort(want)
	for _, page := range []int{1, 7, 100, 1000} {
		var got []string
		for after := ""; ; {
			found := orFatal(b.List(t.Context(), "k", "p", after, page))(t)
			for _, r := range found {
				got = append(got, r.ID)
			}
			if len(found) < page {
				break
			}
			after = got[len(got)-1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: %d records, want %d in their order", page, len(got), len(want))
		}
	}
}

// A small index must stay in one piece of memory: with members above 64 bytes it would take ten times as much.
func TestUserIndexStaysCompact(t *testing.T) {
	server := redistest.Shared(t)
	b := open(t, options(t, server.URL()))
	for i := range 100 {
		must2(b.Create(t.Context(), lasting(fmt.Sprintf("%064x", i), time.Hour)))(t)
	}
	if form := server.CLI("object", "encoding", b.indexKeys("k", "p")[0]); form != "listpack" {
		t.Errorf("the index is kept as %s", form)
	}
}

// earlier writes a record and its entries as the releases did that had three keys for an index.
func earlier(t *testing.T, server *redistest.Server, b *Backend, r store.Record) {
	t.Helper()
	keys, horizon := b.indexKeys(r.Kind, r.Parent), indexExpiry(toMillis(r.Expires), time.Now().UnixMilli())
	r.Version = b.versions.nextVersion()
	server.CLI("set", b.recordKey(r.Key), encodeHead(r, horizon)+string(r.Value))
	server.CLI("zadd", keys[1], "0", r.ID)
	if horizon > 0 {
		server.CLI("pexpireat", b.recordKey(r.Key), fmt.Sprint(toMillis(r.Expires)))
		server.CLI("zadd", keys[2], fmt.Sprint(horizon), r.ID)
	}
	server.CLI("zadd", keys[3], fmt.Sprint(time.Now().Add(-time.Hour).UnixMilli()), r.ID)
}

func TestChildrenOfAnEarlierReleaseAreListedAndExpire(t *testing.T) {
	server := redistest.Shared(t)
	b := open(t, options(t, server.URL()))
	list := func(want ...string) {
		t.Helper()
		var got []string
		for after := ""; ; {
			page := orFatal(b.List(t.Context(), "k", "p", after, 2))(t)
			for _, r := range page {
				got = append(got, r.ID)
			}
			if len(page) < 2 {
				break
			}
			after = got[len(got)-1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("listed %v, want %v", got, want)
		}
	}
	for _, id := range []string{"b", "d", "f"} {
		earlier(t, server, b, lasting(id, time.Hour))
	}
	earlier(t, server, b, record("for ever"))
	for _, id := range []string{"a", "c", "e"} {
		must2(b.Create(t.Context(), lasting(id, time.Hour)))(t)
	}
	list("a", "b", "c", "d", "e", "f", "for ever")
	// A longer life than the earlier index knows is told to the new one.
	r := must2(b.Get(t.Context(), record("b").Key))(t)
	r.Expires = time.Now().Add(1000 * time.Hour)
	must2(b.Swap(t.Context(), r))(t)
	if knownUntil(t, b, "b").Before(r.Expires) {
		t.Error("the index does not know a child of the earlier release as long as it lives")
	}
	list("a", "b", "c", "d", "e", "f", "for ever")
	for _, id := range []string{"d", "for ever"} {
		if err := b.Delete(t.Context(), record(id).Key); err != nil {
			t.Fatal(err)
		}
	}
	list("a", "b", "c", "e", "f")
	if n := server.CLI("zcard", b.indexKeys("k", "p")[1]); n != "2" {
		t.Errorf("the earlier index has %s entries, want 2", n)
	}
}

// What had no end keeps the index for ever only as long as it is there.
func TestIndexExpiresOnceItsEntriesDo(t *testing.T) {
	server := redistest.Shared(t)
	clock := new(moving)
	o := options(t, server.URL())
	o.Now = clock.now
	b := open(t, o)
	must2(b.Create(t.Context(), record("for ever")))(t)
	must2(b.Create(t.Context(), lasting("for now", time.Hour)))(t)
	index := b.indexKeys("k", "p")[0]
	if ends := server.CLI("pttl", index); ends != "-1" {
		t.Errorf("the index ends in %s ms and a child of it never", ends)
	}
	clock.advance(11 * time.Minute) // entries are settled
	if err := b.Delete(t.Context(), record("for ever").Key); err != nil {
		t.Fatal(err)
	}
	if ends := server.CLI("pttl", index); strings.HasPrefix(ends, "-") {
		t.Errorf("the index ends in %s ms, and all its children do", ends)
	}
}
