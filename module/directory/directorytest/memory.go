package directorytest

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// Seed is a user that a directory under test begins with.
type Seed struct {
	directory.User
	Password string
}

// Memory is a directory for tests of packages that need one. Passwords are kept
// and compared as they are, so that a sign-in costs no hash.
type Memory struct {
	mu    sync.RWMutex
	users map[string]Seed   // by ID
	names map[string]string // canonical user name -> ID
	fault error
}

// NewMemory returns a directory of these users. It panics on an empty or repeated
// ID or user name, which is a mistake in the test.
func NewMemory(seeds ...Seed) *Memory {
	m := &Memory{users: map[string]Seed{}, names: map[string]string{}}
	for _, s := range seeds {
		s.Username = norm.NFC.String(s.Username)
		_, sameID := m.users[s.ID]
		_, sameName := m.names[s.Username]
		if s.ID == "" || s.Username == "" || sameID || sameName {
			panic(fmt.Sprintf("directorytest: empty or repeated user: id %q, username %q", s.ID, s.Username))
		}
		s.User = s.Clone()
		m.users[s.ID] = s
		m.names[s.Username] = s.ID
	}
	return m
}

// Identify implements [directory.Directory].
func (m *Memory) Identify(_ context.Context, username string) (string, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.fault != nil {
		return "", false, m.fault
	}
	id, known := m.names[norm.NFC.String(username)]
	return id, known, nil
}

// Authenticate implements [directory.Directory].
func (m *Memory) Authenticate(_ context.Context, username, password string) (directory.User, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.fault != nil {
		return directory.User{}, false, m.fault
	}
	s, known := m.users[m.names[norm.NFC.String(username)]]
	same := secret.Equal([]byte(s.Password), []byte(password))
	if !known || !same || s.Locked || password == "" || len(password) > directory.MaxPassword {
		return directory.User{}, false, nil
	}
	return s.Clone(), true, nil
}

// Lookup implements [directory.Directory].
func (m *Memory) Lookup(_ context.Context, id string) (directory.User, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.fault != nil {
		return directory.User{}, false, m.fault
	}
	s, ok := m.users[id]
	return s.Clone(), ok, nil
}

// SetLocked locks or unlocks a user. It panics when there is none of this ID.
func (m *Memory) SetLocked(id string, locked bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.users[id]
	if !ok {
		panic(fmt.Sprintf("directorytest: no user %q", id))
	}
	s.Locked = locked
	m.users[id] = s
}

// Remove deletes a user, if there is one of this ID.
func (m *Memory) Remove(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.names, m.users[id].Username)
	delete(m.users, id)
}

// Fail makes every later call return err, as a directory out of reach does, until Fail(nil) ends it.
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = err
}

// Interface guard
var _ directory.Directory = (*Memory)(nil)
