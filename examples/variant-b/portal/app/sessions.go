package app

import (
	"crypto/rand"
	"crypto/subtle"
	"sync"
	"time"
)

const (
	pendingLife = 10 * time.Minute
	sessionLife = 12 * time.Hour
)

// visitor is what the site knows of somebody who signed in. OpenID is theirs here and
// nowhere else; UnionID is theirs at every site of the same owner.
type visitor struct{ OpenID, UnionID, Nickname, Picture string }

// session is one browser: signed in, or on the way with a state.
type session struct {
	state   string
	begun   time.Time
	expires time.Time
	who     *visitor
}

// sessions are the known browsers by the value of their cookie. There is a cap because
// anyone can begin a sign-in, again and again.
type sessions struct {
	most int
	now  func() time.Time

	mu   sync.Mutex
	byID map[string]*session
}

func newSessions(most int, now func() time.Time) *sessions {
	return &sessions{most: most, now: now, byID: make(map[string]*session)}
}

// begin notes that a browser goes to sign in, under the ID it has or a new one. ok is
// false when there is no room.
func (s *sessions) begin(id, state string) (_ string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.now()
	mine := s.live(id, at)
	if mine == nil {
		if !s.room(at) {
			return "", false
		}
		id, mine = rand.Text(), new(session)
		s.byID[id] = mine
	}
	mine.state, mine.begun = state, at
	if mine.who == nil {
		mine.expires = at.Add(pendingLife)
	}
	return id, true
}

// claim reports whether this browser is on its way with this state, which is spent then.
// Another state leaves it standing: a forged answer cannot stop the true one.
func (s *sessions) claim(id, state string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.now()
	mine := s.live(id, at)
	if mine == nil || mine.state == "" || at.Sub(mine.begun) >= pendingLife ||
		subtle.ConstantTimeCompare([]byte(mine.state), []byte(state)) == 0 {
		return false
	}
	mine.state = ""
	return true
}

// signIn gives the browser another ID, so that one which somebody planted in it before is
// worth nothing after.
func (s *sessions) signIn(old string, who visitor) (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, old)
	at := s.now()
	if !s.room(at) {
		return "", false
	}
	id = rand.Text()
	s.byID[id] = &session{expires: at.Add(sessionLife), who: &who}
	return id, true
}

// who is nil when nobody is signed in.
func (s *sessions) who(id string) *visitor {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mine := s.live(id, s.now()); mine != nil {
		return mine.who
	}
	return nil
}

func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}

func (s *sessions) live(id string, at time.Time) *session {
	if mine := s.byID[id]; mine != nil && at.Before(mine.expires) {
		return mine
	}
	return nil
}

// room makes a place if it can: of what has expired, else of the oldest sign-in that was
// begun and not finished. Whoever is signed in stays.
func (s *sessions) room(at time.Time) bool {
	if len(s.byID) < s.most {
		return true
	}
	oldest := ""
	for id, other := range s.byID {
		switch {
		case !at.Before(other.expires):
			delete(s.byID, id)
		case other.who == nil && (oldest == "" || other.begun.Before(s.byID[oldest].begun)):
			oldest = id
		}
	}
	if len(s.byID) >= s.most {
		delete(s.byID, oldest)
	}
	return len(s.byID) < s.most
}
