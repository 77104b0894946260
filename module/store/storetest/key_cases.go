package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/store"
)

var keyCases = []testCase{
	{"IDs that are prefixes of each other or hold separators are apart", func(s *stage) {
		ids := []string{"a", "a:", "a/b", "a\x00", "a\x00b", "ab", "A", " a", "a ", "{a}", "a*", "a%", "a\n", "ä", "\xff\xfe", "../a"}
		for _, id := range ids {
			s.mustCreate(newRecord("k", id, "", "value of "+id))
		}
		for _, id := range ids {
			s.wantSame(s.mustGet(store.Key{Kind: "k", ID: id}), newRecord("k", id, "", "value of "+id))
		}
		s.mustDelete(store.Key{Kind: "k", ID: "a"})
		for _, id := range ids[1:] {
			s.mustGet(store.Key{Kind: "k", ID: id})
		}
	}},
	{"the border between kind, parent and ID counts", func(s *stage) {
		for _, r := range []store.Record{
			newRecord("ab", "c", "p", "1"), newRecord("a", "bc", "p", "2"), newRecord("a", "b:c", "p", "3"), newRecord("a:b", "c", "p", "4"),
			newRecord("x", "yz", "1", "5"), newRecord("x", "z", "1y", "6"), newRecord("x", "y:z", "1", "7"), newRecord("x", "z2", "1:y", "8"),
		} {
			s.mustCreate(r)
			s.wantSame(s.mustGet(r.Key), r)
		}
		s.wantEqual(s.listIDs("x", "1", "", 9), "y:z", "yz")
		s.wantEqual(s.listIDs("x", "1y", "", 9), "z")
		s.wantEqual(s.listIDs("a", "p", "", 9), "b:c", "bc")
	}},
	{"values may be empty or binary", func(s *stage) {
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		for i, value := range [][]byte{nil, {}, {0}, all, []byte("\r\n"), []byte("nil")} {
			r := store.Record{Key: store.Key{Kind: "k", ID: fmt.Sprint(i)}, Parent: "p", Value: value}
			s.wantSame(s.mustCreate(r), r)
			got := s.mustGet(r.Key)
			s.wantSame(got, r)
			s.wantSame(s.mustSwap(got), r)
			s.wantSame(s.mustGet(r.Key), r)
		}
	}},
	{"the longest keys and values are taken", func(s *stage) {
		long := strings.Repeat("x", store.MaxKeyLength)
		r := newRecord(store.Kind(long), long, long, strings.Repeat("v", store.MaxValueLength))
		r = s.mustCreate(r)
		s.wantSame(s.mustGet(r.Key), r)
		r = s.mustSwap(r)
		s.wantEqual(s.listIDs(r.Kind, long, "", 9), long)
		s.wantEqual(s.listIDs(r.Kind, long, long[1:], 9), long)
		s.mustDelete(r.Key)
		s.wantError(store.ErrNotFound)(s.Get(s.ctx, r.Key))
	}},
	{"what a caller holds is not what is stored", func(s *stage) {
		given := newRecord("k", "a", "p", "first")
		s.mustCreate(given)
		given.Value[0] = 'X'
		held := s.mustGet(given.Key)
		want := bytes.Clone(held.Value)
		s.wantSame(held, newRecord("k", "a", "p", "first"))
		next := held
		next.Value = []byte("second")
		s.mustSwap(next)
		next.Value[0] = 'X'
		s.createMany("other", "", 70) // a store that lends its own memory has reused it by now
		if !slices.Equal(held.Value, want) {
			s.Fatalf("the value read before a Swap became %q", held.Value)
		}
		s.listOne("k", "p").Value[0] = 'Y'
		s.wantSame(s.mustGet(given.Key), newRecord("k", "a", "p", "second"))
	}},
}

var secretCases = []testCase{
	{"a keeper of secrets gives one secret to all", func(s *stage) {
		keeper, ok := s.Backend.(store.SecretKeeper)
		if !ok {
			return
		}
		first, err := keeper.Secret(s.ctx)
		if err != nil || len(first) < 32 {
			s.Fatalf("Secret has %d bytes, %v", len(first), err)
		}
		runTogether(crowd, func(int) {
			if got, err := keeper.Secret(s.ctx); err != nil || !bytes.Equal(got, first) {
				s.Errorf("Secret differs, or %v", err)
			}
		})
	}},
}
