package authserver

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// seenEvery is how often a session's last use is written down at most.
const seenEvery = time.Minute

// person is who is signed in at a browser, and since when.
type person struct {
	user    directory.User
	session store.Session
	digest  string // the id under which the session is stored
}

// session returns the live session of a browser and its record, false for none. A
// fault of the store is no answer about the session.
func (s *signIn) session(r *http.Request) (store.Session, store.Record, bool, error) {
	var v store.Session
	c, err := r.Cookie(s.sessionCookie())
	if err != nil || !secret.IsToken(c.Value) {
		return v, store.Record{}, false, nil
	}
	rec, err := store.Read(r.Context(), s.Store, store.Key{Kind: store.KindSession, ID: secret.Digest(c.Value)}, &v)
	if errors.Is(err, store.ErrNotFound) {
		return v, rec, false, nil
	}
	if err != nil {
		return v, rec, false, err
	}
	now := s.Now()
	if !now.Before(v.Expires) || now.Sub(v.LastSeen) >= s.Lifetimes.SessionIdle {
		return v, rec, false, nil
	}
	ended, err := ending.Ended(r.Context(), s.Store, v.Subject, "", store.Epochs{Subject: v.Epoch})
	if err != nil || ended {
		return v, rec, false, err
	}
	return s.seen(r.Context(), v, rec, s.ClientIP(r))
}

// seen moves the idle end of a session, and keeps the address that it is used from. A
// conflict is another tab that did the same.
func (s *signIn) seen(ctx context.Context, v store.Session, rec store.Record, address string) (store.Session, store.Record, bool, error) {
	now := s.Now()
	if now.Sub(v.LastSeen) < min(seenEvery, s.Lifetimes.SessionIdle/2) {
		return v, rec, true, nil
	}
	v.LastSeen, v.Address = now, address
	value, err := store.Encode(&v)
	if err != nil {
		return v, rec, false, err
	}
	rec.Value, rec.Expires = value, s.sessionEnd(v)
	_, err = s.Store.Swap(ctx, rec)
	switch {
	case errors.Is(err, store.ErrNotFound): // signed out this moment
		return v, rec, false, nil
	case errors.Is(err, store.ErrConflict):
		err = nil
	}
	return v, rec, err == nil, err
}

func (s *signIn) sessionEnd(v store.Session) time.Time {
	if idle := v.LastSeen.Add(s.Lifetimes.SessionIdle); idle.Before(v.Expires) {
		return idle
	}
	return v.Expires
}

// whoIs returns who is signed in, nil for nobody. A user who was deleted is nobody;
// one who was locked is returned, for the caller to refuse.
func (s *signIn) whoIs(r *http.Request) (*person, error) {
	v, rec, ok, err := s.session(r)
	if err != nil || !ok {
		return nil, err
	}
	user, ok, err := s.Directory.Lookup(r.Context(), v.Subject)
	if err != nil || !ok {
		return nil, err
	}
	return &person{user: user, session: v, digest: rec.ID}, nil
}

// begin starts a session with an id of its own, whatever cookie came along: an id
// from before the sign-in may be known to somebody else (session fixation). The
// session it replaces ends. epoch is the last one that was given out before the password
// was checked; the person is nil when the user was signed out everywhere since.
func (s *signIn) begin(w http.ResponseWriter, r *http.Request, user directory.User, epoch int64) (*person, error) {
	now := s.Now()
	id := secret.Token()
	v := store.Session{
		Subject: user.ID, AuthTime: now, LastSeen: now, Expires: now.Add(s.Lifetimes.Session),
		UserAgent: httpx.UserAgent(r), Address: s.ClientIP(r), Epoch: epoch,
	}
	value, err := store.Encode(&v)
	if err != nil {
		return nil, err
	}
	digest := secret.Digest(id)
	key := store.Key{Kind: store.KindSession, ID: digest}
	if _, err := s.Store.Create(r.Context(), store.Record{Key: key, Parent: user.ID, Value: value, Expires: s.sessionEnd(v)}); err != nil {
		return nil, err
	}
	// A session of before an end would be dead at its first use; the user is told at once.
	ended, err := ending.Ended(r.Context(), s.Store, user.ID, "", store.Epochs{Subject: epoch})
	if err == nil && ended {
		return nil, s.Store.Delete(r.Context(), key)
	}
	if err == nil {
		err = s.boundSessions(r.Context(), user.ID, digest)
	}
	if err == nil {
		err = s.end(r)
	}
	if err != nil {
		return nil, err
	}
	s.setCookie(w, s.sessionCookie(), id, 0)
	return &person{user: user, session: v, digest: digest}, nil
}

// end deletes the session the browser came with. When it returns nil, no node knows
// the session any more.
func (s *signIn) end(r *http.Request) error {
	c, err := r.Cookie(s.sessionCookie())
	if err != nil || !secret.IsToken(c.Value) {
		return nil
	}
	return s.Store.Delete(r.Context(), store.Key{Kind: store.KindSession, ID: secret.Digest(c.Value)})
}
