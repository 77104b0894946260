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

// sharedTexts keeps one copy of what many tokens have in common: issuer, audience, client, scopes and key. A list
// takes the place of another one with its hash, so the table needs neither locks nor a clean-up.
type sharedTexts struct {
	lists [1024]atomic.Pointer[[]string]
}

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
	slot := &s.lists[h.Sum64()%uint64(len(s.lists))]
	if have := slot.Load(); have != nil && slices.Equal(*have, list) {
		return *have, 0
	}
	list = slices.Clone(list) // a parameter that is kept would be allocated by each caller
	if own <= maxShared {
		slot.Store(&list)
	}
	return list, own
}

// textBytes is what a text takes, which is allocated in steps of 8 bytes at least.
func textBytes(s string) uint32 { return uint32(len(s)+7) &^ 7 }
