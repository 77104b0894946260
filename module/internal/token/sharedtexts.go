package token

import (
	"hash/maphash"
	"slices"
	"sync/atomic"
)

const (
	// maxShared bounds the texts that are shared, in bytes of a list.
	maxShared = 256
	// sharedBytes is what the table takes at most.
	sharedBytes = len(sharedTexts{}.lists) * (8 + maxShared + 64)
)

// sharedTexts keeps one copy of what many tokens have in common: issuer, audience, client, scopes and key. The hash of
// a list chooses a set of places. A list takes an empty one or else that of another list, so the table needs neither
// locks nor a clean-up. With one place only, two lists of the same hash would push each other out with each token.
type sharedTexts struct {
	lists [1024]atomic.Pointer[[]string]
}

// perSet is how many lists have place in a set.
const perSet = 4

var sharedSeed = maphash.MakeSeed()

// share returns an equal list and what it takes beyond what is there already, in bytes.
func (s *sharedTexts) share(list []string) (shared []string, own uint32) {
	if len(list) == 0 {
		return nil, 0
	}
	var h maphash.Hash
	h.SetSeed(sharedSeed)
	for _, text := range list {
		_, _ = h.WriteString(text) // never fails
		_ = h.WriteByte(0)
		own += 16 + textBytes(text)
	}
	hash := h.Sum64()
	set := s.lists[hash%uint64(len(s.lists)/perSet)*perSet:][:perSet]
	place := &set[hash>>32%perSet]
	for i := range set {
		switch have := set[i].Load(); {
		case have == nil:
			place = &set[i]
		case slices.Equal(*have, list):
			return *have, 0
		}
	}
	list = slices.Clone(list) // a parameter that is kept would be allocated by each caller
	if own <= maxShared {
		place.Store(&list)
	}
	return list, own
}

// textBytes is what a text takes, which is allocated in steps of 8 bytes at least.
func textBytes(s string) uint32 { return uint32(len(s)+7) &^ 7 }
