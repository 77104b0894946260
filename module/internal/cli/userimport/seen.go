package userimport

import (
	"hash/maphash"

	"github.com/gatehouse/gatehouse/module/internal/userstore"
)

// maxSeen bounds the names and IDs that are remembered: some 80 MB. Behind it the store alone notices what is there twice,
// and a dry run does not.
const maxSeen = 2 << 20

// seen knows in which lines names and IDs were, by a digest. Among a million, two that differ have one digest with a
// probability of some 1 to 10 million.
type seen struct {
	seed  maphash.Seed
	lines map[uint64]uint32
}

func newSeen() seen { return seen{maphash.MakeSeed(), make(map[uint64]uint32)} }

// before returns the line in which the username or the ID was already, or 0, and remembers them.
func (s *seen) before(l Line) (field string, line int) {
	if l.User.Username == "" {
		return "", 0 // the gateway says so
	}
	name := maphash.String(s.seed, "username "+userstore.FoldName(l.User.Username))
	id := maphash.String(s.seed, "id "+l.User.ID)
	if first := s.lines[name]; first != 0 {
		return "username", int(first)
	}
	if first := s.lines[id]; first != 0 && l.User.ID != "" {
		return "id", int(first)
	}
	if len(s.lines) < maxSeen {
		s.lines[name] = uint32(l.Number)
		if l.User.ID != "" {
			s.lines[id] = uint32(l.Number)
		}
	}
	return "", 0
}
