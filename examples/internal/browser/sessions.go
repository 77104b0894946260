// Package browser is what the web applications among the examples have in common: sessions of browsers behind a cookie,
// and the page around them.
package browser

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"sync"
	"time"
)

const (
	// PendingLife is how long a browser may take to sign in.
	PendingLife = 10 * time.Minute
	// SessionLife is how long it then stays signed in.
	SessionLife = 12 * time.Hour
)

// session is one browser: signed in, or on the way to it, or both.
type session[T any] struct {
	expires time.Time
	// state and verifier belong to the sign-in that the browser has begun; state is "" if there is none.
	state, verifier string
	begun           time.Time
	user            *T // nil: nobody is signed in
}

// Sessions are the known browsers, by the value of their cookie. T is what an application keeps of a user.
type Sessions[T any] struct {
	cookie string
	secure bool
	most   int
	now    func() time.Time

	mu   sync.Mutex
	byID map[string]*session[T]
}

// NewSessions returns sessions behind a cookie of this name, which is Secure or not. There are at most most of them,
// because anyone can begin a sign-in, again and again. Default: 1000, and time.Now.
func NewSessions[T any](cookie string, secure bool, most int, now func() time.Time) *Sessions[T] {
	if most == 0 {
		most = 1000
	}
	if now == nil {
		now = time.Now
	}
	return &Sessions[T]{cookie: cookie, secure: secure, most: most, now: now, byID: make(map[string]*session[T])}
}

// Begin notes that a browser goes to sign in, with the session it has or a new one. It reports false if there is no
// room.
func (s *Sessions[T]) Begin(w http.ResponseWriter, r *http.Request, state, verifier string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	id, known := s.find(r)
	if known == nil {
		if !s.makeRoom(now) {
			return false
		}
		id, known = rand.Text(), new(session[T])
		s.byID[id] = known
	}
	if known.user == nil {
		known.expires = now.Add(PendingLife)
	}
	known.state, known.verifier, known.begun = state, verifier, now
	s.setCookie(w, id)
	return true
}

// Claim ends the sign-in that this browser has begun under this state, and returns its verifier. Another state leaves
// it standing, so that a forged callback cannot stop a true one.
func (s *Sessions[T]) Claim(r *http.Request, state string) (verifier string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.find(r)
	if known == nil || known.state == "" || s.now().Sub(known.begun) >= PendingLife ||
		subtle.ConstantTimeCompare([]byte(known.state), []byte(state)) != 1 {
		return "", false
	}
	verifier = known.verifier
	known.state, known.verifier = "", ""
	return verifier, true
}

// SignIn replaces the session, so that an ID which somebody planted in the browser before is worth nothing after. It
// reports false if there is no room.
func (s *Sessions[T]) SignIn(w http.ResponseWriter, r *http.Request, user T) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, _ := s.find(r)
	delete(s.byID, old)
	now := s.now()
	if !s.makeRoom(now) {
		return false
	}
	id := rand.Text()
	s.byID[id] = &session[T]{expires: now.Add(SessionLife), user: &user}
	s.setCookie(w, id)
	return true
}

// User returns who is signed in, nil for nobody.
func (s *Sessions[T]) User(r *http.Request) *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.find(r); known != nil {
		return known.user
	}
	return nil
}

// End ends the session of a browser.
func (s *Sessions[T]) End(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, _ := s.find(r)
	delete(s.byID, id)
	s.setCookie(w, "")
}

// find returns the ID that a browser shows, and its session, nil for none.
func (s *Sessions[T]) find(r *http.Request) (id string, known *session[T]) {
	c, err := r.Cookie(s.cookie)
	if err != nil {
		return "", nil
	}
	if known = s.byID[c.Value]; known != nil && !s.now().Before(known.expires) {
		known = nil
	}
	return c.Value, known
}

// setCookie is SameSite=Lax and not Strict: the callback is a navigation that comes from the issuer's site, and it must
// bring the cookie.
func (s *Sessions[T]) setCookie(w http.ResponseWriter, id string) {
	c := &http.Cookie{Name: s.cookie, Value: id, Path: "/", HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode}
	if id == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// makeRoom makes a place if it can: first of what has expired, then of the oldest sign-in that was begun and not
// finished. Whoever is signed in stays.
func (s *Sessions[T]) makeRoom(now time.Time) bool {
	if len(s.byID) < s.most {
		return true
	}
	oldest := ""
	for id, known := range s.byID {
		switch {
		case !now.Before(known.expires):
			delete(s.byID, id)
		case known.user == nil && (oldest == "" || known.begun.Before(s.byID[oldest].begun)):
			oldest = id
		}
	}
	if len(s.byID) >= s.most {
		delete(s.byID, oldest)
	}
	return len(s.byID) < s.most
}
