package store

import (
	"context"
	"errors"
)

// IsAnswer reports whether an error is one of the contract's three, which say how a
// record is, and not a technical one.
func IsAnswer(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrExists) || errors.Is(err, ErrConflict)
}

// Read gets the record under key and decodes its value into v. ErrNotFound is the only
// error that is an answer; what cannot be decoded is a fault.
func Read(ctx context.Context, b Backend, key Key, v stamped) (Record, error) {
	r, err := b.Get(ctx, key)
	if err == nil {
		err = Decode(r.Value, v)
	}
	return r, err
}

// Put writes a record as it is to be after what was read: a version of 0 stands for none.
// written is false, without an error, when somebody else wrote meanwhile.
func Put(ctx context.Context, b Backend, r Record) (written bool, err error) {
	if r.Version == 0 {
		_, err = b.Create(ctx, r)
	} else {
		_, err = b.Swap(ctx, r)
	}
	if IsAnswer(err) {
		return false, nil
	}
	return err == nil, err
}
