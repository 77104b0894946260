package authserver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gatehouse/gatehouse/module/audit"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// endPage is how many records of a user are read at a time; how many there are is
	// bounded by how often somebody signs in.
	endPage = 100
	// endTries bounds how often one record is read again because it changed. Each change
	// is a redemption or refresh that got through before, and the next one is refused by
	// the guards' notice or finds the record dead: the bound is for a store that misbehaves.
	endTries = 32
)

var errEnding = errors.New("authserver: a record changed at every try to end it")

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
		s.endSessions(ctx, subject, ""),
		s.endGrants(ctx, subject, all),
	)
	if err != nil {
		return err
	}
	s.Audit.Record(ctx, audit.Event{Name: audit.SignOutAll, Subject: subject})
	s.pause(ctx, at.Truncate(time.Second).Add(time.Second).Sub(s.Now()))
	return nil
}

// ForgetSubject is EndSubject for a user who is deleted: what was allowed is no longer
// remembered either.
func (s *Server) ForgetSubject(ctx context.Context, subject string) error {
	if err := s.EndSubject(ctx, subject); err != nil {
		return err
	}
	return s.each(ctx, store.KindConsent, subject, func(rec store.Record) error { return s.Store.Delete(ctx, rec.Key) })
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

// endSessions ends every session of a user but the one to keep, "" for none.
func (s *Server) endSessions(ctx context.Context, subject, keep string) error {
	return s.each(ctx, store.KindSession, subject, func(rec store.Record) error {
		if rec.ID == keep {
			return nil
		}
		return s.Store.Delete(ctx, rec.Key)
	})
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

// endCode marks a code. Deleting it would be no end: a code is a function of its request,
// so the form that made it, sent again, would make it anew.
func (s *Server) endCode(ctx context.Context, rec store.Record, chosen func(client, grantID string) bool) error {
	for range endTries {
		var v store.Code
		if err := store.Decode(rec.Value, &v); err != nil {
			return ofOne{err}
		}
		revoked, ok := v.Revoke()
		if !ok || !chosen(v.Client, v.Grant) {
			return nil
		}
		value, err := store.Encode(&revoked)
		if err != nil {
			return err
		}
		again, err := s.replace(ctx, &rec, value)
		if err != nil || !again {
			return err
		}
	}
	return ofOne{errEnding}
}

// endFamily tells the guards of the family itself: a token of a refresh that was on its way
// may be younger than any notice about the user. It tells them before it marks the record:
// while that is not marked, calling again comes here again.
func (s *Server) endFamily(ctx context.Context, rec store.Record, chosen func(client, grantID string) bool) error {
	told := false
	for range endTries {
		var v store.Grant
		if err := store.Decode(rec.Value, &v); err != nil {
			return ofOne{err}
		}
		if v.Revoked() || !chosen(v.Client, v.ID) {
			return nil
		}
		if !told && s.mayHaveTokens(v) {
			if err := s.notice(ctx, store.RevokeGrant, v.ID, s.Now()); err != nil {
				return err
			}
			told = true
		}
		revoked := v.Revoke(s.Now())
		value, err := store.Encode(&revoked)
		if err != nil {
			return err
		}
		again, err := s.replace(ctx, &rec, value)
		if err != nil || !again {
			return err
		}
	}
	return ofOne{errEnding}
}

// tokenMargin is for nodes whose clocks differ, and for the time between signing a token
// and writing its family.
const tokenMargin = time.Minute

// mayHaveTokens reports whether an access token of the family can be alive. A user can
// have hundreds of families and every guard keeps every notice, so those that have not
// been used for longer than a token lives need none.
func (s *Server) mayHaveTokens(v store.Grant) bool {
	return s.Now().Before(v.RotatedAt.Add(s.Lifetimes.RefreshGrace + s.Lifetimes.Access + tokenMargin))
}

// replace writes a record as it is to be. again says that it changed meanwhile; rec is
// then what it is now. What is gone needs no end.
func (s *Server) replace(ctx context.Context, rec *store.Record, value []byte) (again bool, err error) {
	rec.Value = value
	_, err = s.Store.Swap(ctx, *rec)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case !errors.Is(err, store.ErrConflict):
		return false, err
	}
	*rec, err = s.Store.Get(ctx, rec.Key)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return true, err
}

// ofOne is what is wrong with one record: it is of a newer release, or changes all the
// time. It does not spare those behind it.
type ofOne struct{ error }

func (e ofOne) Unwrap() error { return e.error }

// each calls do with every record of a user. What cannot be decoded is reported when the
// others are done; a fault of the store is the end at once.
func (s *Server) each(ctx context.Context, kind store.Kind, subject string, do func(store.Record) error) error {
	var kept error
	_, err := s.upTo(ctx, kind, subject, math.MaxInt, func(rec store.Record) error {
		err := do(rec)
		if errors.As(err, new(ofOne)) {
			kept = fmt.Errorf("authserver: %s of a user not ended: %w", kind, err)
			return nil
		}
		return err
	})
	return errors.Join(err, kept)
}

// upTo calls do with at most so many records of a user; more says that there are others.
func (s *Server) upTo(ctx context.Context, kind store.Kind, subject string, limit int, do func(store.Record) error) (more bool, err error) {
	for after := ""; ; {
		page, err := s.Store.List(ctx, kind, subject, after, endPage)
		if err != nil || len(page) == 0 {
			return false, err
		}
		for _, rec := range page {
			if limit--; limit < 0 {
				return true, nil
			}
			if err := do(rec); err != nil {
				return false, err
			}
		}
		after = page[len(page)-1].ID
	}
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
