package authserver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// endPage is how many records of a user are read at a time; how many there are is
	// bounded by how often somebody signs in.
	endPage = 100
	// endTries bounds how often one record is read again because it changed. Each change
	// is a redemption or refresh that got through: the bound is for a store that misbehaves,
	// and for a client that does nothing but refresh.
	endTries = 32
)

var errEnding = errors.New("authserver: a record changed at every try to end it")

// endCode marks a code. Deleting it would be no end: a code is a function of its request,
// so the form that made it, sent again, would make it anew.
func (s *Server) endCode(ctx context.Context, rec store.Record, chosen func(client, grantID string) bool) error {
	return s.rewrite(ctx, rec, func(value []byte) ([]byte, error) {
		var v store.Code
		if err := store.Decode(value, &v); err != nil {
			return nil, ofOne{err}
		}
		revoked, ok := v.Revoke()
		if !ok || !chosen(v.Client, v.Grant) {
			return nil, nil
		}
		return store.Encode(&revoked)
	})
}

// endFamily tells the guards of the family itself: a token of a refresh that was on its way
// may be younger than any notice about the user. It tells them before it marks the record:
// while that is not marked, calling again comes here again.
func (s *Server) endFamily(ctx context.Context, rec store.Record, chosen func(client, grantID string) bool) error {
	told := false
	return s.rewrite(ctx, rec, func(value []byte) ([]byte, error) {
		var v store.Grant
		if err := store.Decode(value, &v); err != nil {
			return nil, ofOne{err}
		}
		if v.Revoked() || !chosen(v.Client, v.ID) {
			return nil, nil
		}
		if !told && s.mayHaveTokens(v) {
			if err := s.notice(ctx, store.RevokeGrant, v.ID, s.Now()); err != nil {
				return nil, err
			}
			told = true
		}
		revoked := v.Revoke(s.Now())
		return store.Encode(&revoked)
	})
}

// rewrite makes a record what end says, nil when nothing is left to end.
func (s *Server) rewrite(ctx context.Context, rec store.Record, end func(value []byte) ([]byte, error)) error {
	for range endTries {
		ended, err := end(rec.Value)
		if err != nil || ended == nil {
			return err
		}
		again, err := s.replace(ctx, &rec, ended)
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
// been used for longer than a token lives need none: any token, since what was issued
// before the configuration allowed less is alive all the same.
func (s *Server) mayHaveTokens(v store.Grant) bool {
	return s.Now().Before(v.RotatedAt.Add(s.Lifetimes.RefreshGrace + s.TokenLife() + tokenMargin))
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
