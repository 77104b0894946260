package http

import (
	"fmt"

	"github.com/maypok86/otter/v2"

	"github.com/gatehouse/gatehouse/module/directory"
)

// memorySize bounds the remembered users, in units of 1 KiB of answer.
const memorySize = 16 << 10

// memory keeps what the last sign-ins said about users, for a directory that cannot be
// asked about them. A nil memory keeps nothing.
type memory struct {
	users *otter.Cache[string, remembered]
}

// maxNames bounds the names whose ID is remembered, some 10 MB.
const maxNames = 50_000

// names remembers which user a name led to, for counting failed sign-ins.
type names struct {
	ids *otter.Cache[string, string]
}

func newNames() (*names, error) {
	ids, err := otter.New(&otter.Options[string, string]{MaximumSize: maxNames})
	if err != nil {
		return nil, fmt.Errorf("the memory of names: %w", err)
	}
	return &names{ids}, nil
}

// rememberName keeps whose name it is; "" is nobody's.
func (n *names) rememberName(name, id string) {
	if id != "" {
		n.ids.Set(directory.FoldUsername(name), id)
	}
}

func (n *names) idOf(name string) (string, bool) {
	return n.ids.GetIfPresent(directory.FoldUsername(name))
}

type remembered struct {
	user directory.User
	size int
}

func newMemory() (*memory, error) {
	users, err := otter.New(&otter.Options[string, remembered]{
		MaximumWeight: memorySize,
		Weigher:       func(_ string, r remembered) uint32 { return uint32(1 + r.size/1024) },
	})
	if err != nil {
		return nil, fmt.Errorf("the memory of users: %w", err)
	}
	return &memory{users}, nil
}

func (m *memory) rememberUser(u directory.User, size int) {
	if m != nil {
		m.users.Set(u.ID, remembered{u.Clone(), size})
	}
}

// recallUser gives what is remembered of a user, else one of whom the ID alone is known.
func (m *memory) recallUser(id string) directory.User {
	r, ok := m.users.GetIfPresent(id)
	if !ok {
		return directory.User{ID: id, Username: id}
	}
	return r.user.Clone()
}
