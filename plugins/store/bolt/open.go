package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"go.uber.org/zap"
)

// lockWait is how long an opener waits for whoever holds the file: enough for a
// process that is just ending, short enough for an operator at a prompt.
const lockWait = time.Second

// maxWait bounds Options.GroupCommit: every write may wait that long.
const maxWait = time.Second

// Options say which state file to open and how to write it.
type Options struct {
	// Path of the state file. Required.
	Path string
	// GroupCommit is how long a write may wait for others, from 0 to a second.
	GroupCommit time.Duration
	// Logger must outlive the backend. Nil: nothing is logged.
	Logger *zap.Logger
	// Now is the clock of every expiry. Nil: time.Now.
	Now func() time.Time
}

// Open opens the state file, making it and its directory if they are missing, and locks it until [Backend.Close].
func Open(o Options) (*Backend, error) {
	if o.Path == "" {
		return nil, errors.New("store bolt: no path given")
	}
	if o.GroupCommit < 0 || o.GroupCommit > maxWait {
		return nil, fmt.Errorf("store bolt: the group commit is %s, it must be from 0 to %s", o.GroupCommit, maxWait)
	}
	path, err := resolvePath(o.Path)
	if err != nil {
		return nil, err
	}
	return openResolved(path, o)
}

// openResolved is Open with the result of [resolvePath]. It follows no symbolic link at the end of the path.
func openResolved(path string, o Options) (*Backend, error) {
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &handle{path: path, log: o.Logger}
	if err := h.reopen(); err != nil {
		return nil, err
	}
	b := &Backend{
		handle:  h,
		now:     o.Now,
		wait:    o.GroupCommit,
		queue:   make(chan *request, queueLength),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
		hub:     hub{watchers: make(map[*watcher]struct{})},
		keeper:  keeper{path: path + secretSuffix, log: o.Logger},
	}
	b.compactions = make(chan *compaction)
	go b.commitAll()
	return b, nil
}

// openFile opens the database at path. The file is returned as well, because closing it is the only way to give up
// the lock if bbolt panics. mustExist says that the file was open before.
func openFile(path string, mustExist bool, log *zap.Logger) (_ *bbolt.DB, file *os.File, err error) {
	if err := preparePath(path, mustExist, log); err != nil {
		return nil, nil, err
	}
	var db *bbolt.DB
	err = recoverPanic(func() error {
		var err error
		db, err = bbolt.Open(path, 0o600, bboltOptions(&file))
		return err
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, nil, fmt.Errorf("store bolt: %s is in use by another process (a second gateway on the same file?)", path)
	case errors.As(err, new(panicError)):
		_ = unlockFile(file)
		return nil, nil, fmt.Errorf("store bolt: %s is damaged: %w: %s", path, err, restore)
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, nil, fmt.Errorf("store bolt: %s is no state file, or is damaged: %w: %s", path, err, restore)
	case err != nil:
		return nil, nil, fmt.Errorf("store bolt: %w", err)
	}
	err = checkPlace(path, file)
	if err == nil {
		err = removeCopy(path)
	}
	if err == nil {
		err = restrictFile(file, log)
	}
	if err == nil {
		err = recoverPanic(func() error { return checkLength(db, file) })
	}
	if err == nil {
		err = recoverPanic(func() error { return db.Update(initBuckets) })
	}
	if err == nil {
		err = syncDirs(path)
	}
	if err != nil {
		_ = recoverPanic(db.Close)
		return nil, nil, fmt.Errorf("store bolt: %s: %w", path, err)
	}
	return db, file, nil
}

// bboltOptions has bbolt keep the file that it opens in file.
func bboltOptions(file **os.File) *bbolt.Options {
	return &bbolt.Options{
		Timeout:      lockWait,
		FreelistType: bbolt.FreelistMapType,
		NoSync:       false, // an acknowledged write is on the disk
		OpenFile: func(name string, flag int, mode fs.FileMode) (f *os.File, err error) {
			f, err = os.OpenFile(name, flag|noFollow, mode)
			*file = f
			return f, err
		},
	}
}

// checkPlace refuses a file that is no longer the one of its name: whoever had the lock before put a compacted copy there.
func checkPlace(path string, file *os.File) error {
	same, err := isInPlace(path, file)
	if err == nil && !same {
		err = errors.New("it is in use by another process (a second gateway on the same file?)")
	}
	return err
}

// isInPlace reports whether an open file is still the one of its name.
func isInPlace(path string, file *os.File) (bool, error) {
	here, err := file.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(here, there), nil
}

// initBuckets makes the buckets of a new file and checks those of an old one.
func initBuckets(tx *bbolt.Tx) error {
	if err := checkSchema(tx); err != nil {
		return err
	}
	for _, name := range [][]byte{bucketMeta, bucketRecords, bucketParents, bucketExpiry} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return tx.Bucket(bucketMeta).Put(keySchema, binary.BigEndian.AppendUint64(nil, schema))
}

// checkSchema refuses a file that is not ours, or of a newer release. A new file has nothing in it.
func checkSchema(tx *bbolt.Tx) error {
	if meta := tx.Bucket(bucketMeta); meta != nil {
		if n := meta.Get(keySchema); len(n) != 8 {
			return errors.New("it was not made by gatehouse")
		} else if n := binary.BigEndian.Uint64(n); n == 0 || n > schema {
			return fmt.Errorf("it has schema %d, this release reads up to %d: written by a newer gatehouse?", n, schema)
		}
	} else if name, _ := tx.Cursor().First(); name != nil {
		return errors.New("it was not made by gatehouse")
	}
	return nil
}

// Secret implements store.SecretKeeper.
func (b *Backend) Secret(ctx context.Context) ([]byte, error) {
	if err := b.refuseReason(ctx); err != nil {
		return nil, err
	}
	return b.keeper.readOrMakeSecret(b.isEmpty)
}

// isEmpty reports whether no record was ever kept.
func (b *Backend) isEmpty() (bool, error) {
	found := true
	err := b.handle.viewTx(func(tx *bbolt.Tx) error {
		found = tx.Bucket(bucketRecords).Sequence() == 0
		return nil
	})
	return found, err
}
