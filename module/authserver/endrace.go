package authserver

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// What is begun while it is being ended must not outlive the end. No record covers both
// sides, so each writes its own first and then looks at the other's: whichever comes
// second sees the first.

// takeBack marks the code under key, whichever request made it.
func (s *signIn) takeBack(ctx context.Context, key store.Key) error {
	rec, err := s.Store.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.endCode(ctx, rec, func(string, string) bool { return true })
}

// EndedSince reports whether the user was signed out everywhere in the second of since
// or later: a password that was looked at before its change is not worth a session after
// it, nor a grant (it implements [grant.Passwords]). It asks the store and not this node's
// feed, which is a second behind other nodes.
func (s *signIn) EndedSince(ctx context.Context, subject string, since time.Time) (bool, error) {
	// A sign-in waits for its turn and for the directory, each within bounds: this many
	// seconds are more than it can take.
	const most = 90
	at, now := since.Truncate(time.Second), s.Now()
	if now.Sub(at) > most*time.Second {
		return true, nil
	}
	for ; !at.After(now); at = at.Add(time.Second) {
		_, err := s.Store.Get(ctx, store.Revocation{Of: store.RevokeSubject, Value: subject, At: at}.Key())
		if !errors.Is(err, store.ErrNotFound) {
			return err == nil, err
		}
	}
	return false, nil
}

// unlessTakenBack refuses what was stored for q while its session was ended or its
// remembered consent withdrawn, and undoes it, since its form could be sent again.
func (s *signIn) unlessTakenBack(ctx context.Context, q *request, who *person, undo func(context.Context) error) error {
	stands, err := s.stands(ctx, q, who)
	if err != nil || stands {
		return err
	}
	if err := undo(ctx); err != nil {
		return err
	}
	return q.refuse(oauth.AccessDenied, "the user has signed out or taken the permission back")
}

// stands reports whether what allowed q is still there: the session, and where one is
// needed the remembered consent, given to the client as it is now.
func (s *signIn) stands(ctx context.Context, q *request, who *person) (bool, error) {
	_, err := s.Store.Get(ctx, store.Key{Kind: store.KindSession, ID: who.digest})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	client, ok, err := s.Clients.Client(ctx, q.Client)
	if err != nil || !ok {
		return false, err
	}
	if client.Trusted || !client.RemembersConsent(q.RedirectURI) {
		return true, nil
	}
	given, err := s.given(ctx, q.Client, who.user.ID)
	return given.Covers(consentPage(client, q.RedirectURI), q.Scopes), err
}
