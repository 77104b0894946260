package session

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// seenEvery is how often the last use of a session is written at most.
const seenEvery = time.Minute

// Config is what Sessions needs; all of it.
type Config struct {
	Site      page.Site
	Store     store.Backend
	Directory directory.Directory
	Keys      func(context.Context) (*secret.Keys, error)
	ClientIP  func(*http.Request) string
	Now       func() time.Time
	Life      time.Duration // absolute
	Idle      time.Duration
}

// Sessions finds, begins and ends the sessions of browsers.
type Sessions struct {
	Config
	Cookies Cookies
}

// New returns the sessions of an issuer.
func New(c Config) *Sessions { return &Sessions{c, Cookies{c.Site.HTTPS}} }

// SignedIn is who is signed in at a browser, and since when.
type SignedIn struct {
	User    directory.User
	Session store.Session
	Digest  string // the id under which the session is stored
}

// Current returns the live session of a browser and its record; ok is false without one. A fault
// of the store is no answer about the session.
func (s *Sessions) Current(r *http.Request) (v store.Session, rec store.Record, ok bool, err error) {
	c, err := r.Cookie(s.Cookies.Session())
	if err != nil || !secret.IsToken(c.Value) {
		return v, rec, false, nil
	}
	rec, err = store.Read(r.Context(), s.Store, store.Key{Kind: store.KindSession, ID: secret.Digest(c.Value)}, &v)
	if errors.Is(err, store.ErrNotFound) {
		return v, rec, false, nil
	}
	if err != nil {
		return v, rec, false, err
	}
	now := s.Now()
	if !now.Before(v.Expires) || now.Sub(v.LastSeen) >= s.Idle {
		return v, rec, false, nil
	}
	ended, err := ending.Ended(r.Context(), s.Store, v.Subject, "", store.Epochs{Subject: v.Epoch})
	if err != nil || ended {
		return v, rec, false, err
	}
	return s.markSeen(r.Context(), v, rec, s.ClientIP(r))
}

// markSeen moves the idle end of a session, and keeps the address that it is used from. A
// conflict is another tab that did the same.
func (s *Sessions) markSeen(ctx context.Context, v store.Session, rec store.Record, address string) (store.Session, store.Record, bool, error) {
	now := s.Now()
	if now.Sub(v.LastSeen) < min(seenEvery, s.Idle/2) {
		return v, rec, true, nil
	}
	v.LastSeen, v.Address = now, address
	value, err := store.Encode(&v)
	if err != nil {
		return v, rec, false, err
	}
	rec.Value, rec.Expires = value, s.End(v)
	_, err = s.Store.Swap(ctx, rec)
	switch {
	case errors.Is(err, store.ErrNotFound): // signed out this moment
		return v, rec, false, nil
	case errors.Is(err, store.ErrConflict):
		err = nil
	}
	return v, rec, err == nil, err
}

// End is when a session ends unless it is used.
func (s *Sessions) End(v store.Session) time.Time {
	if idle := v.LastSeen.Add(s.Idle); idle.Before(v.Expires) {
		return idle
	}
	return v.Expires
}

// SignedIn returns who is signed in, nil for nobody. A user who was deleted is nobody; one who
// was locked is returned, for the caller to refuse.
func (s *Sessions) SignedIn(r *http.Request) (*SignedIn, error) {
	v, rec, ok, err := s.Current(r)
	if err != nil || !ok {
		return nil, err
	}
	user, ok, err := s.Directory.Lookup(r.Context(), v.Subject)
	if err != nil || !ok {
		return nil, err
	}
	return &SignedIn{User: user, Session: v, Digest: rec.ID}, nil
}

// Unlocked is SignedIn without users who are locked, for pages that have nothing for them.
func (s *Sessions) Unlocked(r *http.Request) (*SignedIn, error) {
	who, err := s.SignedIn(r)
	if who != nil && who.User.Locked {
		return nil, err
	}
	return who, err
}

// Begin starts a session with an id of its own, whatever cookie came along: an id from before
// the sign-in may be known to somebody else (session fixation). The session it replaces ends.
// epoch is the last one that was given out before the password was checked; the result is nil
// when the user was signed out everywhere since.
func (s *Sessions) Begin(w http.ResponseWriter, r *http.Request, user directory.User, epoch int64) (*SignedIn, error) {
	now := s.Now()
	id := secret.Token()
	v := store.Session{
		Subject: user.ID, AuthTime: now, LastSeen: now, Expires: now.Add(s.Life),
		UserAgent: httpx.UserAgent(r), Address: s.ClientIP(r), Epoch: epoch,
	}
	value, err := store.Encode(&v)
	if err != nil {
		return nil, err
	}
	digest := secret.Digest(id)
	key := store.Key{Kind: store.KindSession, ID: digest}
	if _, err := s.Store.Create(r.Context(), store.Record{Key: key, Parent: user.ID, Value: value, Expires: s.End(v)}); err != nil {
		return nil, err
	}
	// If the user was signed out everywhere meanwhile, the session would be dead at its first
	// use; the user is told at once.
	ended, err := ending.Ended(r.Context(), s.Store, user.ID, "", store.Epochs{Subject: epoch})
	if err == nil && ended {
		return nil, s.Store.Delete(r.Context(), key)
	}
	if err == nil {
		err = s.endLeastRecent(r.Context(), user.ID, digest)
	}
	if err == nil {
		err = s.Delete(r)
	}
	if err != nil {
		return nil, err
	}
	s.Cookies.Set(w, s.Cookies.Session(), id, 0)
	return &SignedIn{User: user, Session: v, Digest: digest}, nil
}

// Delete deletes the session the browser came with. When it returns nil, no node knows the
// session any more.
func (s *Sessions) Delete(r *http.Request) error {
	c, err := r.Cookie(s.Cookies.Session())
	if err != nil || !secret.IsToken(c.Value) {
		return nil
	}
	return s.Store.Delete(r.Context(), store.Key{Kind: store.KindSession, ID: secret.Digest(c.Value)})
}
