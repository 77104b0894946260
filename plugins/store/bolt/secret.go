package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/store"
)

// maxSecret bounds what is read: a longer file is not a secret.
const maxSecret = 4096

// keeper keeps the gateway's secret in a file of its own, so that a copy of the
// database alone forges nothing. The text in it can be configured as `secret` when
// the gateway moves to a shared store. The database's lock makes it the only writer.
type keeper struct {
	path string
	log  *zap.Logger
	// made, if not nil, prepares a new file before it gets its name.
	made func(*os.File) error

	mu    sync.Mutex
	value []byte
}

// readOrMakeSecret reads the secret, or makes it. unused reports whether the database is new.
func (k *keeper) readOrMakeSecret(unused func() (bool, error)) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.value != nil {
		return bytes.Clone(k.value), nil
	}
	value, err := k.readSecret()
	if errors.Is(err, fs.ErrNotExist) {
		value, err = k.makeSecret(unused)
	}
	if err != nil {
		return nil, err
	}
	k.value = value
	return bytes.Clone(value), nil
}

func (k *keeper) readSecret() (_ []byte, err error) {
	file, err := os.Open(k.path)
	if err != nil {
		return nil, fmt.Errorf("store bolt: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := restrictFile(file, k.log); err != nil {
		return nil, fmt.Errorf("store bolt: %w", err)
	}
	value, err := io.ReadAll(io.LimitReader(file, maxSecret+1))
	if err != nil {
		return nil, fmt.Errorf("store bolt: %w", err)
	}
	// An editor ends a file with a newline, which is no part of the secret.
	value = bytes.TrimRight(value, "\r\n")
	if len(value) < store.MinSecretLength || len(value) > maxSecret {
		return nil, fmt.Errorf("store bolt: the secret in %s has %d bytes, it must have from %d to %d: restore the file, or remove it and every user signs in anew",
			k.path, len(value), store.MinSecretLength, maxSecret)
	}
	return value, nil
}

// makeSecret writes a new secret under another name first, so that a crash leaves a whole file or none.
func (k *keeper) makeSecret(unused func() (bool, error)) ([]byte, error) {
	fresh, err := unused()
	if err != nil {
		return nil, err
	}
	value := store.NewSecret()
	if err := k.writeSecret(value); err != nil {
		return nil, fmt.Errorf("store bolt: the secret cannot be kept: %w", err)
	}
	if fresh {
		k.log.Info("made a secret", zap.String("file", k.path))
	} else {
		k.log.Warn("made a new secret for a state file that has been in use: tokens and keys made with the lost one are void",
			zap.String("file", k.path))
	}
	return value, nil
}

func (k *keeper) writeSecret(value []byte) error {
	name := k.path + ".new"
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(filepath.Clean(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(value)
	if err == nil && k.made != nil {
		err = k.made(file)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(name, k.path); err != nil {
		return err
	}
	return syncDirs(k.path)
}
