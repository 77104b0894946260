package app

import (
	"crypto/rand"
	"crypto/subtle"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

const (
	pendingLife = 10 * time.Minute
	sessionLife = 12 * time.Hour
)

// session is what the server knows of one browser.
type session struct {
	expires time.Time
	// state and verifier belong to the sign-in that this browser has begun; state is
	// "" when it has begun none.
	state, verifier string
	begun           time.Time
	// tokens is nil while nobody is signed in.
	tokens oauth2.TokenSource
}

// sessions are the known browsers, by the value of their cookie. There is a cap
// because anyone can begin a sign-in, again and again.
type sessions struct {
	most int
	now  func() time.Time

	mu   sync.Mutex
	byID map[string]*session
}

func newSessions(most int, now func() time.Time) *sessions {
	return &sessions{most: most, now: now, byID: map[string]*session{}}
}

// begin notes that a browser goes to sign in, with the session it has or a new one.
// ok is false when there is no room.
func (s *sessions) begin(id, state, verifier string) (_ string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	known := s.known(id)
	if known == nil {
		if !s.room(now) {
			return "", false
		}
		known = &session{}
		id = rand.Text()
		s.byID[id] = known
	}
	if known.tokens == nil {
		known.expires = now.Add(pendingLife)
	}
	known.state, known.verifier, known.begun = state, verifier, now
	return id, true
}

// claim ends the sign-in that this browser has begun under this state and returns
// its verifier. A state that differs leaves it standing, so that a forged callback
// cannot stop a true one.
func (s *sessions) claim(id, state string) (verifier string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known(id)
	if known == nil || known.state == "" || s.now().Sub(known.begun) >= pendingLife ||
		subtle.ConstantTimeCompare([]byte(known.state), []byte(state)) != 1 {
		return "", false
	}
	verifier = known.verifier
	known.state, known.verifier = "", ""
	return verifier, true
}

// signIn replaces the session, so that an ID which somebody planted in the browser
// before is worth nothing after.
func (s *sessions) signIn(old string, tokens oauth2.TokenSource) (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, old)
	now := s.now()
	if !s.room(now) {
		return "", false
	}
	id = rand.Text()
	s.byID[id] = &session{expires: now.Add(sessionLife), tokens: tokens}
	return id, true
}

// tokens returns nil when nobody is signed in.
func (s *sessions) tokens(id string) oauth2.TokenSource {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.known(id); known != nil {
		return known.tokens
	}
	return nil
}

func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}

func (s *sessions) known(id string) *session {
	known, ok := s.byID[id]
	if !ok || !s.now().Before(known.expires) {
		return nil
	}
	return known
}

// room makes a place if it can: first of what has expired, then of the oldest
// sign-in that was begun and not finished. Whoever is signed in stays.
func (s *sessions) room(now time.Time) bool {
	if len(s.byID) < s.most {
		return true
	}
	oldest := ""
	for id, known := range s.byID {
		if !now.Before(known.expires) {
			delete(s.byID, id)
			continue
		}
		if known.tokens == nil && (oldest == "" || known.begun.Before(s.byID[oldest].begun)) {
			oldest = id
		}
	}
	if len(s.byID) >= s.most {
		delete(s.byID, oldest)
	}
	return len(s.byID) < s.most
}
