package http

import (
	"github.com/maypok86/otter/v2"

	"github.com/gatehouse/gatehouse/module/directory"
)

const (
	// maxNames bounds the names whose ID is remembered, some 10 MB.
	maxNames = 50_000
	// memorySize bounds the remembered users, in units of 1 KiB of answer.
	memorySize = 16 << 10
)

// names remembers which user a name led to, for counting failed sign-ins.
type names struct{ ids *otter.Cache[string, owner] }

// owner is a user and how the name was spelled.
type owner struct{ id, spelled string }

func newNames() names {
	return names{otter.Must(&otter.Options[string, owner]{MaximumSize: maxNames})}
}

// rememberName records whose name it is; "" is nobody's.
func (n names) rememberName(name, id string) {
	if id != "" {
		n.ids.Set(directory.FoldUsername(name), owner{id, name})
	}
}

// idOf returns the user of a name or of one that differs in what directories commonly ignore. The endpoint may take such a
// name for another user's, so only the same spelling is known.
func (n names) idOf(name string) (id string, known bool) {
	o, _ := n.ids.GetIfPresent(directory.FoldUsername(name))
	return o.id, o.id != "" && o.spelled == name
}

// memory keeps what the last sign-ins said about users, for a directory that cannot be asked about them.
type memory struct {
	users *otter.Cache[string, remembered]
}

type remembered struct {
	user directory.User
	size int
}

func newMemory() memory {
	return memory{otter.Must(&otter.Options[string, remembered]{
		MaximumWeight: memorySize,
		Weigher:       func(_ string, r remembered) uint32 { return uint32(1 + r.size/1024) },
	})}
}

func (m memory) rememberUser(u directory.User, size int) {
	m.users.Set(u.ID, remembered{u.Clone(), size})
}

// recallUser returns what is remembered of a user, else a user of whom only the ID is known.
func (m memory) recallUser(id string) directory.User {
	r, ok := m.users.GetIfPresent(id)
	if !ok {
		return directory.User{ID: id, Username: id}
	}
	return r.user.Clone()
}
