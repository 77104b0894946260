package authserver

import (
	"context"
	"errors"

	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// unlessTakenBack refuses what was stored for q while the user signed out or took the
// permission back, or the client became another, and undoes it, since its form could be
// sent again.
func (s *signIn) unlessTakenBack(ctx context.Context, q *request, who *person, e store.Epochs, undo func(context.Context) error) error {
	stands, err := s.stands(ctx, q.Client, who.user.ID, who.digest, e)
	if err == nil && stands {
		stands, err = s.stillConsented(ctx, q, who)
	}
	if err != nil || stands {
		return err
	}
	if err := undo(ctx); err != nil {
		return err
	}
	return q.refuse(oauth.AccessDenied, "the user has signed out or taken the permission back")
}

// stands reports whether the session is still there that something was stored for, and
// neither its user nor the permission was ended since. A session that ended alone leaves
// no epoch behind; who stored something first and then looks finds it gone.
func (s *signIn) stands(ctx context.Context, client, subject, session string, e store.Epochs) (bool, error) {
	_, err := s.Store.Get(ctx, store.Key{Kind: store.KindSession, ID: session})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ended, err := ending.Ended(ctx, s.Store, subject, client, e)
	return err == nil && !ended, err
}

// stillConsented reports whether the remembered consent, where one is needed, was given to
// the client as it is now.
func (s *signIn) stillConsented(ctx context.Context, q *request, who *person) (bool, error) {
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

// takeBack marks the code under key, whichever request made it. Deleting it would be no
// end: a code is a function of its request, so the form that made it, sent again, would
// make it anew. A code that is used up stays as it is.
func (s *signIn) takeBack(ctx context.Context, key store.Key) error {
	var v store.Code
	_, err := store.Change(ctx, s.Store, store.Record{Key: key}, &v, func(rec *store.Record) (bool, error) {
		if rec.Version == 0 {
			return false, nil
		}
		var ok bool
		v, ok = v.Revoke()
		return ok, nil
	})
	return err
}
