package store

import (
	"context"
	"errors"
	"io"
)

// Walker is implemented by a [Backend], and by a [Snapshot] that was opened, to go through all records.
type Walker interface {
	// Walk calls visit with the live records of all kinds, in one or more calls of at most 1,000 records, and returns the
	// error of visit as it is. Of records that are written during the walk it may visit the old or the new state, or none.
	Walk(ctx context.Context, visit func([]Record) error) error
}

// EmptyChecker is implemented by a [Backend] that several stores of other names may lie beside, and other programs' data.
type EmptyChecker interface {
	// Empty reports whether there is nothing of this store, not even a record that has expired and is still to be removed.
	Empty(ctx context.Context) (bool, error)
}

// ErrBusy says that the records are being copied already, for a snapshot or to compact their file. Once that is done the
// same call succeeds.
var ErrBusy = errors.New("the state is being copied already, for a backup or a compaction")

// Snapshotter is implemented by a [Backend] that can copy its records as they are at one moment.
type Snapshotter interface {
	// Snapshot makes a copy, or returns [ErrBusy]. Reads and writes continue meanwhile. The caller MUST close it.
	Snapshot(ctx context.Context) (*Snapshot, error)
}

// Snapshot is a copy of all records as they were at one moment, in the backend's own format. It never contains the secret.
type Snapshot struct {
	io.ReadCloser
	// Size is the number of bytes to read.
	Size int64
	// SecretFile is where the backend keeps the secret if none is configured.
	SecretFile string
}

// OpenSnapshot is a snapshot in a file that was opened for reading.
type OpenSnapshot interface {
	Walker
	io.Closer
}

// FileSource is implemented by a [Source] that keeps the records in a file of this machine.
type FileSource interface {
	Source
	// Files returns the path of the records' file and that of the secret beside it.
	Files() (state, secret string)
	// OpenStopped is Open for an operator's command while no gateway runs. If root calls it, the process acts as the user
	// to whom the folder belongs until the backend is closed.
	OpenStopped(ctx context.Context) (Backend, error)
	// OpenSnapshot opens a snapshot in a file and checks that it is complete and undamaged as far as its structure shows
	// it. It does not change the file.
	OpenSnapshot(path string) (OpenSnapshot, error)
	// Restore puts a snapshot in the place of the records' file, unless a gateway has that open. If root calls it, the
	// process acts as the user to whom the folder belongs until it returns.
	Restore(ctx context.Context, r Restoration) (Restored, error)
}

// Restoration says what [FileSource.Restore] is to do.
type Restoration struct {
	// Snapshot is the path of a snapshot's file.
	Snapshot string
	// Secret is what to keep beside the records. Empty: the file of the secret stays as it is.
	Secret []byte
	// Prepare, if not nil, may change the records before they are in force.
	Prepare func(context.Context, Backend) error
	// Progress, if not nil, is called with the number of bytes copied since the last call.
	Progress func(bytes int64)
}

// Restored says what [FileSource.Restore] has done.
type Restored struct {
	// Aside are the files that were in force before, under their new names.
	Aside []string
}
