// Package userrecords walks the records of one user in the store, page by page.
package userrecords

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gatehouse/gatehouse/module/store"
)

// pageSize is how many records are read at a time.
const pageSize = 100

// unreadable is the error of one record that a newer release wrote.
type unreadable struct{ error }

func (e unreadable) Unwrap() error { return e.error }

// Unreadable marks an error as that of a single record, so that Each goes on with the others.
func Unreadable(err error) error { return unreadable{err} }

// Each calls do with every record of a user. Records that cannot be decoded are reported after the others are done;
// any other error ends the walk at once.
func Each(ctx context.Context, b store.Backend, kind store.Kind, subject string, do func(store.Record) error) error {
	var kept error
	_, err := UpTo(ctx, b, kind, subject, math.MaxInt, func(rec store.Record) error {
		err := do(rec)
		if errors.As(err, new(unreadable)) {
			kept = fmt.Errorf("authserver: %s of a user not read: %w", kind, err)
			return nil
		}
		return err
	})
	return errors.Join(err, kept)
}

// UpTo calls do with at most limit records of a user; more reports that there are others.
func UpTo(ctx context.Context, b store.Backend, kind store.Kind, subject string, limit int, do func(store.Record) error) (more bool, err error) {
	for after := ""; ; {
		records, err := b.List(ctx, kind, subject, after, pageSize)
		if err != nil || len(records) == 0 {
			return false, err
		}
		for _, rec := range records {
			if limit--; limit < 0 {
				return true, nil
			}
			if err := do(rec); err != nil {
				return false, err
			}
		}
		after = records[len(records)-1].ID
	}
}
