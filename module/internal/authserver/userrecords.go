package authserver

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gatehouse/gatehouse/module/store"
)

// userPage is how many records of a user are read at a time.
const userPage = 100

// ofOne is what is wrong with one record, which is of a newer release. It does not spare
// those behind it.
type ofOne struct{ error }

func (e ofOne) Unwrap() error { return e.error }

// each calls do with every record of a user. What cannot be decoded is reported when the
// others are done; a fault of the store is the end at once.
func (s *Server) each(ctx context.Context, kind store.Kind, subject string, do func(store.Record) error) error {
	var kept error
	_, err := s.upTo(ctx, kind, subject, math.MaxInt, func(rec store.Record) error {
		err := do(rec)
		if errors.As(err, new(ofOne)) {
			kept = fmt.Errorf("authserver: %s of a user not read: %w", kind, err)
			return nil
		}
		return err
	})
	return errors.Join(err, kept)
}

// upTo calls do with at most so many records of a user; more says that there are others.
func (s *Server) upTo(ctx context.Context, kind store.Kind, subject string, limit int, do func(store.Record) error) (more bool, err error) {
	for after := ""; ; {
		page, err := s.Store.List(ctx, kind, subject, after, userPage)
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
