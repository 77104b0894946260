package authserver

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/audit"
	"github.com/gatehouse/gatehouse/module/store"
)

// EndSubject signs a user out everywhere: when it returns nil every session is gone, no
// authorization code of before can be redeemed, every grant (refresh token) of before is
// dead, and every access token of before is refused by every guard within a second. What
// the user has allowed applications stays remembered.
//
// It is for sign-out everywhere, a changed password and a user who was locked or deleted;
// change the directory first, so that nobody signs in the old way behind it. Errors are
// technical; then some of it may have happened, and calling again does the rest.
//
// Guards compare whole seconds (see [token.Revocations.Check]), and a sign-in begun in
// the second of the notice is refused: so that a user who signs in again at once is not
// given dead tokens, EndSubject returns when that second is over.
func (s *Server) EndSubject(ctx context.Context, subject string) error {
	if subject == "" {
		return errors.New("authserver: no subject to end")
	}
	at := s.Now()
	if err := s.notice(ctx, store.RevokeSubject, subject, at); err != nil {
		return err
	}
	all := func(client, id string) bool { return true }
	// One part that fails does not spare the others: what can be ended is ended.
	err := errors.Join(
		s.endSessions(ctx, subject),
		s.endGrants(ctx, subject, all),
	)
	if err != nil {
		return err
	}
	s.Audit.Record(ctx, audit.Event{Name: audit.SignOutAll, Subject: subject})
	s.pause(ctx, min(time.Second, at.Truncate(time.Second).Add(time.Second).Sub(s.Now()))) // also if the clock was set back
	return nil
}

// ForgetSubject is EndSubject for a user who is deleted: neither what was allowed nor what
// the user is called at clients of Variant B is remembered any longer.
func (s *Server) ForgetSubject(ctx context.Context, subject string) error {
	if err := s.EndSubject(ctx, subject); err != nil {
		return err
	}
	remove := func(rec store.Record) error { return s.Store.Delete(ctx, rec.Key) }
	return errors.Join(
		s.each(ctx, store.KindConsent, subject, remove),
		s.each(ctx, store.KindPairwise, subject, remove),
	)
}

// EndGrant kills one grant of a user: its refresh token, its access tokens, and its code
// if that was not redeemed yet. A grant that is unknown, dead or somebody else's is no
// error, and nothing happens. Errors are technical.
func (s *Server) EndGrant(ctx context.Context, subject, grantID string) error {
	if subject == "" || grantID == "" {
		return errors.New("authserver: no grant to end")
	}
	return s.endGrants(ctx, subject, func(_, id string) bool { return id == grantID })
}

// EndClient takes back everything a user has allowed a client: the remembered consent,
// every code and every grant. The client has to ask again. Errors are technical; calling
// again does the rest.
func (s *Server) EndClient(ctx context.Context, subject, client string) error {
	if subject == "" || client == "" {
		return errors.New("authserver: no consent to end")
	}
	// The consent first: whoever issues a code looks at it once more afterwards.
	if err := s.Store.Delete(ctx, consentKey(client, subject)); err != nil {
		return err
	}
	return s.endGrants(ctx, subject, func(c, _ string) bool { return c == client })
}

func (s *Server) notice(ctx context.Context, of store.RevocationOf, value string, at time.Time) error {
	return s.Revocations.Revoke(ctx, store.Revocation{Of: of, Value: value, At: at})
}

// endSessions ends every session of a user.
func (s *Server) endSessions(ctx context.Context, subject string) error {
	return s.each(ctx, store.KindSession, subject, func(rec store.Record) error { return s.Store.Delete(ctx, rec.Key) })
}

// endGrants takes back codes and kills families. The codes go first: a redemption stores
// its family before it uses up the code, so of a code that is used up by now the family
// is there to be found, and one that is still to be used up finds that it was taken back.
func (s *Server) endGrants(ctx context.Context, subject string, chosen func(client, grantID string) bool) error {
	return errors.Join(
		s.each(ctx, store.KindCode, subject, func(rec store.Record) error { return s.endCode(ctx, rec, chosen) }),
		s.each(ctx, store.KindGrant, subject, func(rec store.Record) error { return s.endFamily(ctx, rec, chosen) }),
	)
}

// sleep waits, or until nobody waits for the answer any more.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
