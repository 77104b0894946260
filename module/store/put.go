package store

import (
	"context"
	"errors"
	"time"
)

// IsAnswer reports whether an error is one of the contract's three, which describe the state
// of a record, and not a technical one.
func IsAnswer(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrExists) || errors.Is(err, ErrConflict)
}

// Read gets the record under key and decodes its value into v. ErrNotFound is the only
// error that is an answer; a value that cannot be decoded is a technical error.
func Read(ctx context.Context, b Backend, key Key, v stamped) (Record, error) {
	r, err := b.Get(ctx, key)
	if err == nil {
		err = Decode(r.Value, v)
	}
	return r, err
}

// Create encodes v into r and stores it as a new record. ErrExists is the only error that is an answer.
func Create(ctx context.Context, b Backend, r Record, v stamped) (Record, error) {
	var err error
	if r.Value, err = Encode(v); err != nil {
		return r, err
	}
	return b.Create(ctx, r)
}

// Swap encodes v into r and replaces the record of r's version. ErrConflict and ErrNotFound are the only errors that
// are answers.
func Swap(ctx context.Context, b Backend, r Record, v stamped) (Record, error) {
	var err error
	if r.Value, err = Encode(v); err != nil {
		return r, err
	}
	return b.Swap(ctx, r)
}

// Put replaces the record of the same version, or creates it if the version is 0. written is
// false, without an error, when somebody else wrote meanwhile.
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

// changeTries bounds how often a record is read again because another request changed it.
const changeTries = 64

// After the first few lost races a change waits up to pauseStep longer at each try, so that many
// nodes that change one record do not keep each other from it.
const (
	pauseAfter = 4
	pauseStep  = time.Millisecond
)

var errContended = errors.New("store: a record changed at every try")

// Change is the read-change-swap loop of one record. It reads the record under r's key into v, which stays zero when
// there is none (the record's version is then 0), lets change alter v and the record's expiry, and writes v back; if
// somebody else wrote meanwhile it starts again. change returns false when nothing is to be written. It may put the
// encoded v into the record's value, to look at its size; otherwise Change encodes v. A new record gets r's parent.
// Change returns the record as it was written or, for false, as it was read.
func Change[V any, P recordOf[V]](ctx context.Context, b Backend, r Record, v P, change func(*Record) (bool, error)) (Record, error) {
	return changeRecord(ctx, b, r, v, nil, change)
}

// ChangeFrom is Change for a record that was just read into v. It reads the record again only
// if somebody else wrote meanwhile.
func ChangeFrom[V any, P recordOf[V]](ctx context.Context, b Backend, read Record, v P, change func(*Record) (bool, error)) (Record, error) {
	return changeRecord(ctx, b, Record{Key: read.Key, Parent: read.Parent}, v, &read, change)
}

// recordOf is a pointer to a record type of this package.
type recordOf[V any] interface {
	*V
	stamped
}

func changeRecord[V any, P recordOf[V]](ctx context.Context, b Backend, r Record, v P, read *Record, change func(*Record) (bool, error)) (Record, error) {
	for try := range changeTries {
		if err := pauseBetweenTries(ctx, try); err != nil {
			return r, err
		}
		rec, err := r, error(nil)
		if read != nil {
			rec, read = *read, nil
		} else {
			*v = *new(V)
			rec, err = Read(ctx, b, r.Key, v)
		}
		switch {
		case errors.Is(err, ErrNotFound):
			rec = r
			rec.Version = 0
		case err != nil:
			return rec, err
		}
		found := rec.Value
		rec.Value = nil
		write, err := change(&rec)
		if err != nil || !write {
			rec.Value = found
			return rec, err
		}
		if rec.Value == nil {
			rec.Value, err = Encode(v)
		}
		if err != nil {
			return rec, err
		}
		if written, err := Put(ctx, b, rec); written || err != nil {
			return rec, err
		}
	}
	return r, errContended
}

// pauseBetweenTries waits for a time that grows with the number of tries, and differs between nodes.
func pauseBetweenTries(ctx context.Context, try int) error {
	if try < pauseAfter {
		return nil
	}
	half := time.Duration(try) * pauseStep / 2
	return Sleep(ctx, half+time.Duration(time.Now().UnixNano())%half)
}

// Sleep waits for d, or until ctx ends, whose error it then returns.
func Sleep(ctx context.Context, d time.Duration) error {
	elapsed, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-elapsed.Done()
	return ctx.Err()
}
