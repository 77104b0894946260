package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// NewFile is a file that gets its name when it is complete. It is readable for its owner alone.
type NewFile struct {
	*os.File
	path string
	link func(from, to string) error // os.Link
}

// Create begins a file. It refuses a path that exists.
func Create(path string) (*NewFile, error) {
	if err := checkAbsent(path); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.partial") // mode 0600
	if err != nil {
		if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
			failed.Path = path // which the caller knows, unlike the temporary name
		}
		return nil, err
	}
	return &NewFile{file, path, os.Link}, nil
}

// checkAbsent refuses a path that exists, even as a symbolic link to nothing.
func checkAbsent(path string) error {
	switch _, err := os.Lstat(path); {
	case err == nil:
		return existsError(path)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

func existsError(path string) error {
	return fmt.Errorf("%s exists and is not overwritten: name another file, or remove it", path)
}

// Sync writes the file to the disk, closes it and leaves it under its temporary name, which Name returns.
func (f *NewFile) Sync() error {
	return errors.Join(f.File.Sync(), f.Close())
}

// Keep gives the synced file its name, unless another file has got it meanwhile.
func (f *NewFile) Keep() error {
	err := f.link(f.Name(), f.path)
	switch {
	case err == nil:
		_ = os.Remove(f.Name())
	case errors.Is(err, fs.ErrExist):
		return existsError(f.path) // even if it is gone by now: this one has no name
	default: // not every file system has links
		if err := checkAbsent(f.path); err != nil {
			return err
		}
		if err := os.Rename(f.Name(), f.path); err != nil {
			return err
		}
	}
	return syncDir(filepath.Dir(f.path))
}

// Discard removes what Keep has not named.
func (f *NewFile) Discard() {
	_ = f.Close()
	_ = os.Remove(f.Name())
}

func syncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil // directories cannot be synced there
	}
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
