package storetest

import (
	"fmt"
	"slices"
)

func (s *stage) equal(got []string, want ...string) {
	s.Helper()
	if !slices.Equal(got, want) {
		s.Fatalf("got %q, want %q", got, want)
	}
}

var listCases = []testCase{
	{"in the order of the IDs' bytes", func(s *stage) {
		ids := []string{"b", "a", "Z", "ä", "aa", "a\x00", "0", "10", "9", "\xff", "~"}
		for _, id := range ids {
			s.mustCreate(rec("k", id, "p", "v"+id))
		}
		slices.Sort(ids)
		s.equal(s.ids("k", "p", "", 100), ids...)
	}},
	{"records come whole", func(s *stage) {
		r := s.mustCreate(s.lasting("a", "p", 1e12))
		found, err := s.List(s.ctx, "k", "p", "", 10)
		if err != nil || len(found) != 1 {
			s.Fatalf("List = %d records, %v", len(found), err)
		}
		s.same(found[0], r)
	}},
	{"pages follow one another without gap or repetition", func(s *stage) {
		const n = 230
		s.fill("k", "p", n)
		var all []string
		for after := ""; ; {
			got := s.ids("k", "p", after, 50)
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
		s.equal(all, want...)
	}},
	{"a page begins behind an ID that need not exist", func(s *stage) {
		for _, id := range []string{"a", "c", "ca", "d"} {
			s.mustCreate(rec("k", id, "p", ""))
		}
		s.equal(s.ids("k", "p", "b", 2), "c", "ca")
		s.equal(s.ids("k", "p", "c", 2), "ca", "d")
		s.equal(s.ids("k", "p", "c\x00", 2), "ca", "d")
		s.equal(s.ids("k", "p", "d", 2))
		s.equal(s.ids("k", "p", "\xff", 2))
	}},
	{"only children of this parent and kind", func(s *stage) {
		for i, parent := range []string{"p", "p:", "pp", "p/q", "p\x00", "", "\x00", "{p}", "*", "P"} {
			s.mustCreate(rec("k", fmt.Sprint("k", i), parent, ""))
			s.mustCreate(rec("kk", fmt.Sprint("kk", i), parent, ""))
		}
		s.equal(s.ids("k", "p", "", 9), "k0")
		s.equal(s.ids("k", "p:", "", 9), "k1")
		s.equal(s.ids("k", "p\x00", "", 9), "k4")
		s.equal(s.ids("kk", "\x00", "", 9), "kk6")
		s.equal(s.ids("k", "{p}", "", 9), "k7")
		s.equal(s.ids("k", "*", "", 9), "k8")
		s.equal(s.ids("", "p", "", 9))
		s.equal(s.ids("k", "none", "", 9))
	}},
	{"what was deleted or swapped is listed as it is now", func(s *stage) {
		r := s.mustCreate(rec("k", "a", "p", "old"))
		s.mustCreate(rec("k", "b", "p", ""))
		s.mustDelete(rec("k", "b", "", "").Key)
		r.Value = []byte("new")
		r = s.mustSwap(r)
		found, err := s.List(s.ctx, "k", "p", "", 10)
		if err != nil || len(found) != 1 {
			s.Fatalf("List = %d records, %v", len(found), err)
		}
		s.same(found[0], r)
	}},
}
