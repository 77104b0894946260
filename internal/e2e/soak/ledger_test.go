package soak

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// ledger remembers what was acknowledged, and nothing else: a request that was cut
// off may or may not have taken effect.
type ledger struct {
	browsers []*http.Client // signed in

	mu     sync.Mutex
	unused []string // codes nobody tried to exchange
	alive  []family
	dead   []family

	codes, refreshes, revocations int
}

func (l *ledger) note(what func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what()
}

// step issues, refreshes and, every other time, ends a family: by revoking its refresh
// token, or by replaying its code. It returns the first error, an answer that is not the expected one included.
func (l *ledger) step(s *site, browser *http.Client, n int) error {
	code, err := s.code(browser)
	if err != nil {
		return err
	}
	if n%5 == 4 {
		l.note(func() { l.codes++; l.unused = append(l.unused, code) })
		return nil
	}
	a, err := s.exchange(code)
	if err != nil || a.status != http.StatusOK {
		return fmt.Errorf("exchange: %v %w", a, err)
	}
	f := &family{code, a.field("access_token"), a.field("refresh_token")}
	// Recorded at the end, also when what follows is cut off: what was acknowledged last
	// still holds, except that a revocation under way may have taken effect.
	keep := func() { l.alive = append(l.alive, *f) }
	defer func() { l.note(func() { l.codes++; keep() }) }()
	for range 2 {
		if a, err = s.refresh(f.refresh); err != nil || a.status != http.StatusOK {
			return fmt.Errorf("refresh: %v %w", a, err)
		}
		f.access, f.refresh = a.field("access_token"), a.field("refresh_token")
		l.note(func() { l.refreshes++ })
	}
	if n%2 == 0 {
		return nil
	}
	keep = func() {}
	if n%4 == 1 {
		if a, err = s.revoke(f.refresh); err != nil || a.status != http.StatusOK { // V09: 200 is durable
			return fmt.Errorf("revoke: %v %w", a, err)
		}
	} else if a, err = s.exchange(code); err != nil || a.field("error") != "invalid_grant" {
		return fmt.Errorf("replay: %v %w", a, err)
	}
	keep = func() { l.revocations++; l.dead = append(l.dead, *f) }
	return nil
}

// remembered bounds what is checked after each kill: the youngest are kept.
const remembered = 100

// verify asks the program for all that was acknowledged.
func (l *ledger) verify(t *testing.T, s *site) {
	t.Helper()
	for _, b := range l.browsers {
		if _, err := s.code(b); err != nil {
			t.Error("a session is lost:", err)
		}
	}
	for _, code := range l.unused {
		a, err := s.exchange(code)
		if err != nil || a.status != http.StatusOK {
			t.Error("an acknowledged code is lost:", a, err)
			continue
		}
		l.alive = append(l.alive, family{code, a.field("access_token"), a.field("refresh_token")})
	}
	l.unused = nil
	for i := range l.alive {
		f := &l.alive[i]
		if a, err := s.read("/read", f.access); err != nil || a.status != http.StatusOK {
			t.Error("an acknowledged access token is refused:", a, err)
		}
		a, err := s.refresh(f.refresh)
		if err != nil || a.status != http.StatusOK {
			t.Error("an acknowledged refresh token is refused:", a, err)
			continue
		}
		f.access, f.refresh = a.field("access_token"), a.field("refresh_token")
	}
	for _, f := range l.dead {
		s.isDead(t, f)
	}
	// Half of the families end here by the only proof that a code is used up: replaying
	// it. The oldest of the rest are forgotten.
	half := len(l.alive) / 2
	for _, f := range l.alive[:half] {
		if a, err := s.exchange(f.code); err != nil || a.field("error") != "invalid_grant" {
			t.Error("a used code:", a, err)
		}
		l.revocations++
		l.dead = append(l.dead, f)
	}
	l.alive = l.alive[half:]
	l.alive = l.alive[max(0, len(l.alive)-remembered):]
	l.dead = l.dead[max(0, len(l.dead)-remembered):]
}

// isDead checks that nothing of a revoked family lives.
func (s *site) isDead(t *testing.T, f family) {
	t.Helper()
	if a, err := s.read("/read", f.access); err != nil || !a.refusedToken() {
		t.Error("the access token of a revoked family:", a, err)
	}
	if a, err := s.refresh(f.refresh); err != nil || a.field("error") != "invalid_grant" {
		t.Error("the refresh token of a revoked family:", a, err)
	}
	if a, err := s.exchange(f.code); err != nil || a.field("error") != "invalid_grant" {
		t.Error("the used code of a revoked family:", a, err)
	}
}
