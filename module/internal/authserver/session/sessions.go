package session

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/userrecords"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// Max is how many sessions a user can have: more than anybody needs, and few enough that somebody who knows a
	// password cannot fill the store.
	Max = 100
	// seenEvery is how often the last use of a session is written at most.
	seenEvery = time.Minute
)

// Clients finds a client; ok is false for an unknown one, errors are technical.
type Clients interface {
	Client(ctx context.Context, id string) (c *oauth.Client, ok bool, err error)
}

// Sessions finds, begins and ends the sessions of browsers. The handlers of all pages share it and its fields, all
// of which are needed.
type Sessions struct {
	*page.Writer
	Store     store.Backend
	Directory directory.Directory
	Keys      func(context.Context) (*secret.Keys, error)
	Clients   Clients
	Attempts  *lockout.Book
	Audit     audit.Sink
	ClientIP  func(*http.Request) string // without port
	Now       func() time.Time
	Life      time.Duration // absolute
	Idle      time.Duration
}

// SignedIn is who is signed in at a browser, and since when.
type SignedIn struct {
	User    directory.User
	Session store.Session
	Digest  string // the id under which the session is stored
}

// Cookies returns the cookies of the issuer.
func (s *Sessions) Cookies() Cookies { return Cookies{s.Site.HTTPS} }

// Current returns the session of a browser, without its user; ok is false if there is none or it has ended. A fault of
// the store is an error, never an answer about the session.
func (s *Sessions) Current(r *http.Request) (who SignedIn, ok bool, err error) {
	id := TokenCookie(r, s.Cookies().Session())
	if id == "" {
		return who, false, nil
	}
	who.Digest = secret.Digest(id)
	v := &who.Session
	rec, err := store.Read(r.Context(), s.Store, store.Key{Kind: store.KindSession, ID: who.Digest}, v)
	if errors.Is(err, store.ErrNotFound) {
		return who, false, nil
	}
	if err != nil {
		return who, false, err
	}
	now := s.Now()
	if !now.Before(v.Expires) || now.Sub(v.LastSeen) >= s.Idle {
		return who, false, nil
	}
	ended, err := ending.Ended(r.Context(), s.Store, v.Subject, "", store.Epochs{Subject: v.Epoch})
	if err != nil || ended {
		return who, false, err
	}
	if now.Sub(v.LastSeen) < min(seenEvery, s.Idle/2) {
		return who, true, nil
	}
	v.LastSeen, v.Address = now, s.ClientIP(r)
	if rec.Value, err = store.Encode(v); err != nil {
		return who, false, err
	}
	rec.Expires = s.End(*v)
	switch _, err = s.Store.Swap(r.Context(), rec); {
	case err == nil, errors.Is(err, store.ErrConflict): // another tab did the same
		return who, true, nil
	case errors.Is(err, store.ErrNotFound): // signed out at this moment
		return who, false, nil
	}
	return who, false, err
}

// End is when a session ends unless it is used.
func (s *Sessions) End(v store.Session) time.Time {
	if idle := v.LastSeen.Add(s.Idle); idle.Before(v.Expires) {
		return idle
	}
	return v.Expires
}

// SignedIn returns who is signed in, nil for nobody or a deleted user. A locked user is returned, for the caller to
// refuse.
func (s *Sessions) SignedIn(r *http.Request) (*SignedIn, error) {
	who, ok, err := s.Current(r)
	if err != nil || !ok {
		return nil, err
	}
	if who.User, ok, err = s.Directory.Lookup(r.Context(), who.Session.Subject); err != nil || !ok {
		return nil, err
	}
	return &who, nil
}

// Unlocked is SignedIn without locked users, for pages that have nothing for them.
func (s *Sessions) Unlocked(r *http.Request) (*SignedIn, error) {
	who, err := s.SignedIn(r)
	if who != nil && who.User.Locked {
		return nil, err
	}
	return who, err
}

// Begin starts a session with a new id, whatever cookie the request has: an id from before the sign-in may be known
// to an attacker (session fixation). The session it replaces ends, and sign-in forms that the browser was shown before
// sign nobody in any more. epoch is the last one issued before the password was checked; the result is nil if the user
// was signed out everywhere since.
func (s *Sessions) Begin(w http.ResponseWriter, r *http.Request, user directory.User, epoch int64) (*SignedIn, error) {
	now, id := s.Now(), secret.Token()
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
	// If the user was signed out everywhere meanwhile, the session would be dead at its first use; tell the user now.
	ended, err := ending.EndedSince(r.Context(), s.Store, user.ID, "", epoch)
	if ended {
		return nil, errors.Join(err, s.Store.Delete(r.Context(), key))
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
	s.Cookies().Set(w, s.Cookies().Session(), id, 0)
	s.Cookies().Set(w, s.Cookies().LastSignIn(), secret.Token(), 0)
	return &SignedIn{User: user, Session: v, Digest: digest}, nil
}

// Delete deletes the session of the request's browser. When it returns nil, no node accepts the session any more.
func (s *Sessions) Delete(r *http.Request) error {
	id := TokenCookie(r, s.Cookies().Session())
	if id == "" {
		return nil
	}
	return s.Store.Delete(r.Context(), store.Key{Kind: store.KindSession, ID: secret.Digest(id)})
}

// ConfirmEnd returns nil if no failover of the store can sign a browser in again that Current has found signed out.
func (s *Sessions) ConfirmEnd(r *http.Request) error {
	id := TokenCookie(r, s.Cookies().Session())
	if id == "" {
		return nil
	}
	key := store.Key{Kind: store.KindSession, ID: secret.Digest(id)}
	if _, err := s.Store.Get(r.Context(), key); err == nil { // ended with its user, or too old
		return s.Store.Delete(r.Context(), key)
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return store.Confirm(r.Context(), s.Store, key)
}

// Forget removes the cookie of a session that has ended.
func (s *Sessions) Forget(w http.ResponseWriter) { s.Cookies().Set(w, s.Cookies().Session(), "", -1) }

// endLeastRecent ends the least recently used sessions of a user beyond Max, but not the one with the id keep.
func (s *Sessions) endLeastRecent(ctx context.Context, subject, keep string) error {
	first, err := s.Store.List(ctx, store.KindSession, subject, "", Max+1)
	if err != nil || len(first) <= Max {
		return err
	}
	type used struct {
		key  store.Key
		seen time.Time
	}
	var all []used
	err = userrecords.Each(ctx, s.Store, store.KindSession, subject, func(rec store.Record) error {
		var v store.Session
		if err := store.Decode(rec.Value, &v); err != nil {
			return userrecords.Unreadable(err)
		}
		if rec.ID != keep {
			all = append(all, used{rec.Key, v.LastSeen})
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b used) int { return a.seen.Compare(b.seen) })
	for _, u := range all[:max(0, len(all)-(Max-1))] {
		if err := s.Store.Delete(ctx, u.key); err != nil {
			return err
		}
	}
	return nil
}
