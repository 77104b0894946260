package storetest

import (
	"fmt"
	"slices"
	"strings"
)

func (s *stage) wantEqual(got []string, want ...string) {
	s.Helper()
	if !slices.Equal(got, want) {
		s.Fatalf("got %q, want %q", got, want)
	}
}

var listCases = []testCase{
	{"in the order of the IDs' bytes", func(s *stage) {
		ids := []string{"b", "a", "Z", "ä", "aa", "a\x00", "0", "10", "9", "\xff", "~"}
		for _, id := range ids {
			s.mustCreate(newRecord("k", id, "p", "v"+id))
		}
		slices.Sort(ids)
		s.wantEqual(s.listIDs("k", "p", "", 100), ids...)
	}},
	{"digests are in the order of the IDs too", func(s *stage) {
		digest := strings.Repeat("0123456789abcdef", 4)
		ids := []string{digest, "f" + digest[1:], digest[:63], digest + "0", "0", "0g", "0123456789abcde", "01234567\x00", "F" + digest[1:], "ff", "g", strings.Repeat("0", 64), "!"}
		for _, id := range ids {
			s.mustCreate(newRecord("k", id, "p", "v"+id))
		}
		slices.Sort(ids)
		s.wantEqual(s.listIDs("k", "p", "", 100), ids...)
		for i, id := range ids {
			s.wantEqual(s.listIDs("k", "p", id, 3), ids[i+1:min(i+4, len(ids))]...)
		}
	}},
	{"records come whole", func(s *stage) {
		r := s.mustCreate(s.newExpiring("a", "p", 1e12))
		s.wantSame(s.listOne("k", "p"), r)
	}},
	{"pages follow one another without gap or repetition", func(s *stage) {
		const n = 230
		s.createMany("k", "p", n)
		var all []string
		for after := ""; ; {
			got := s.listIDs("k", "p", after, 50)
			all = append(all, got...)
			if len(got) < 50 {
				break
			}
			after = got[len(got)-1]
		}
		want := make([]string, n)
		for i := range want {
			want[i] = fmt.Sprintf("%05d", i)
		}
		s.wantEqual(all, want...)
	}},
	{"a page begins behind an ID that need not exist", func(s *stage) {
		for _, id := range []string{"a", "c", "ca", "d"} {
			s.mustCreate(newRecord("k", id, "p", ""))
		}
		s.wantEqual(s.listIDs("k", "p", "b", 2), "c", "ca")
		s.wantEqual(s.listIDs("k", "p", "c", 2), "ca", "d")
		s.wantEqual(s.listIDs("k", "p", "c\x00", 2), "ca", "d")
		s.wantEqual(s.listIDs("k", "p", "d", 2))
		s.wantEqual(s.listIDs("k", "p", "\xff", 2))
	}},
	{"only children of this parent and kind", func(s *stage) {
		for i, parent := range []string{"p", "p:", "pp", "p/q", "p\x00", "", "\x00", "{p}", "*", "P"} {
			s.mustCreate(newRecord("k", fmt.Sprint("k", i), parent, ""))
			s.mustCreate(newRecord("kk", fmt.Sprint("kk", i), parent, ""))
		}
		s.wantEqual(s.listIDs("k", "p", "", 9), "k0")
		s.wantEqual(s.listIDs("k", "p:", "", 9), "k1")
		s.wantEqual(s.listIDs("k", "p\x00", "", 9), "k4")
		s.wantEqual(s.listIDs("kk", "\x00", "", 9), "kk6")
		s.wantEqual(s.listIDs("k", "{p}", "", 9), "k7")
		s.wantEqual(s.listIDs("k", "*", "", 9), "k8")
		s.wantEqual(s.listIDs("", "p", "", 9))
		s.wantEqual(s.listIDs("k", "none", "", 9))
	}},
	{"what was deleted or swapped is listed as it is now", func(s *stage) {
		r := s.mustCreate(newRecord("k", "a", "p", "old"))
		s.mustCreate(newRecord("k", "b", "p", ""))
		s.mustDelete(newRecord("k", "b", "", "").Key)
		r.Value = []byte("new")
		r = s.mustSwap(r)
		s.wantSame(s.listOne("k", "p"), r)
	}},
}
