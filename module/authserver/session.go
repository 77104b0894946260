package authserver

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// seenEvery is how often the time of a session's last use is written.
const seenEvery = time.Minute

// maxUserAgent is how much of the browser's name is kept, in bytes.
const maxUserAgent = 256

// browserSession is the session a request came with.
type browserSession struct {
	store.Session
	id string // the digest under which it is stored
}

// session finds who is signed in. ok is false when nobody is.
func (s *signIn) session(r *http.Request) (browserSession, bool, error) {
	c, err := r.Cookie(s.cookieName(""))
	if err != nil || c.Value == "" || len(c.Value) > 64 {
		return browserSession{}, false, nil
	}
	key := store.Key{Kind: store.KindSession, ID: secret.Digest(c.Value)}
	record, err := s.Store.Get(r.Context(), key)
	if errors.Is(err, store.ErrNotFound) {
		return browserSession{}, false, nil
	}
	if err != nil {
		return browserSession{}, false, err
	}
	found := browserSession{id: key.ID}
	if err := store.Decode(record.Value, &found.Session); err != nil {
		return browserSession{}, false, err
	}
	now := s.Now()
	if !now.Before(found.Expires) || now.Sub(found.LastSeen) >= s.Lifetimes.SessionIdle {
		return browserSession{}, false, nil
	}
	if now.Sub(found.LastSeen) >= seenEvery {
		found.LastSeen = now
		// Should the write fail, the session ends earlier: no reason to refuse the request.
		if record.Value, err = store.Encode(&found.Session); err == nil {
			record.Expires = s.sessionEnd(found.Session)
			_, _ = s.Store.Swap(r.Context(), record)
		}
	}
	return found, true, nil
}

// newSession signs a user in under an id that did not exist before: one that an
// attacker may have planted never becomes a session (session fixation). The session the
// browser had ends.
func (s *signIn) newSession(w http.ResponseWriter, r *http.Request, subject string) (browserSession, error) {
	now := s.Now()
	value := secret.Token()
	made := browserSession{id: secret.Digest(value), Session: store.Session{
		Subject: subject, AuthTime: now, LastSeen: now, Expires: now.Add(s.Lifetimes.Session),
		UserAgent: r.UserAgent()[:min(len(r.UserAgent()), maxUserAgent)],
	}}
	encoded, err := store.Encode(&made.Session)
	if err != nil {
		return browserSession{}, err
	}
	_, err = s.Store.Create(r.Context(), store.Record{
		Key:    store.Key{Kind: store.KindSession, ID: made.id},
		Parent: subject, Value: encoded, Expires: s.sessionEnd(made.Session),
	})
	if err != nil {
		return browserSession{}, err
	}
	if err := s.endSession(r.Context(), r); err != nil {
		return browserSession{}, err
	}
	s.setCookie(w, s.cookieName(""), value, 0)
	return made, nil
}

// endSession ends the session a request came with, on the server and at once.
func (s *signIn) endSession(ctx context.Context, r *http.Request) error {
	c, err := r.Cookie(s.cookieName(""))
	if err != nil || c.Value == "" || len(c.Value) > 64 {
		return nil
	}
	return s.Store.Delete(ctx, store.Key{Kind: store.KindSession, ID: secret.Digest(c.Value)})
}

func (s *signIn) sessionEnd(v store.Session) time.Time {
	if idle := v.LastSeen.Add(s.Lifetimes.SessionIdle); idle.Before(v.Expires) {
		return idle
	}
	return v.Expires
}
