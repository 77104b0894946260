package token

import (
	"fmt"
	"testing"
)

// Of the lists that a site uses, none pushes out another one: a few have place even where their hashes are alike.
func TestFewListsAreAllShared(t *testing.T) {
	for table := range 2_000 { // each table has other lists, and so other hashes
		var s sharedTexts
		for round := range 3 {
			for i := range 5 {
				if _, own := s.share([]string{fmt.Sprint(table, " ", i)}); (own > 0) != (round == 0) {
					t.Fatalf("round %d: list %d takes %d bytes", round, i, own)
				}
			}
		}
	}
}

// The table takes no more than its own size, however many lists there are.
func TestManyListsDisplaceOneAnother(t *testing.T) {
	var s sharedTexts
	for i := range 10 * len(s.lists) {
		s.share([]string{fmt.Sprint("scope:", i)})
	}
	used := 0
	for i := range s.lists {
		if list := s.lists[i].Load(); list != nil {
			used++
		}
	}
	if used < len(s.lists)*9/10 {
		t.Errorf("%d of %d places are used", used, len(s.lists))
	}
}
