package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"go.etcd.io/bbolt"
	"go.uber.org/zap"
)

// resolvePath gives one name to one file: absolute, with symbolic links followed as far as the path exists yet.
func resolvePath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("store bolt: path %s: %w", path, err)
	}
	missing := ""
	for at := abs; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, missing), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			// Not for us to judge yet: opening the file says it better.
			return abs, nil
		}
		missing = filepath.Join(filepath.Base(at), missing)
	}
}

// preparePath makes the directory, and refuses names that cannot be a state file. mustExist
// says that the file was there before, so that one that is gone is not made anew.
func preparePath(path string, mustExist bool, log *zap.Logger) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("store bolt: %w", err)
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && mustExist:
		return fmt.Errorf("store bolt: %s is gone: stop the gateway, %s", path, restore)
	case errors.Is(err, fs.ErrNotExist):
		if hasSecret(path) {
			log.Warn("there is no state file, but the secret of one: starting with an empty state",
				zap.String("file", path), zap.String("secret", path+secretSuffix))
		}
		return nil
	case err != nil:
		return fmt.Errorf("store bolt: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		// resolvePath follows links. To nothing, its target would be made now and be another name for the same file.
		if _, err := os.Stat(path); err == nil {
			return fmt.Errorf("store bolt: %s has become a symbolic link since the configuration was loaded", path)
		}
		return fmt.Errorf("store bolt: %s is a symbolic link to nothing", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("store bolt: %s is not a file", path)
	case info.Size() == 0 && (mustExist || hasSecret(path)):
		return fmt.Errorf("store bolt: %s is empty, though its secret beside it (%s) shows that it had content: %s", path, filepath.Base(path)+secretSuffix, restore)
	case info.Size() == 0:
		// A crash at the first start leaves an empty file and no secret. So does whoever empties
		// the file where the secret is in the configuration, and nothing tells the two apart.
		log.Warn("the state file is empty: starting with an empty state", zap.String("file", path))
	}
	return nil
}

// restore is what to do about a state that is lost.
const restore = "restore both files from one backup, or remove both to start without users, grants and keys"

// secretSuffix makes the secret's file name from the state's.
const secretSuffix = ".secret"

func hasSecret(path string) bool {
	_, err := os.Stat(path + secretSuffix)
	return err == nil
}

// checkLength refuses a file that is shorter than the pages it has in use.
func checkLength(db *bbolt.DB, file *os.File) error {
	return db.View(func(tx *bbolt.Tx) error {
		info, err := file.Stat()
		if err != nil {
			return err
		}
		if info.Size() < tx.Size() {
			return fmt.Errorf("it is cut short: it has %d bytes of %d: %s", info.Size(), tx.Size(), restore)
		}
		return nil
	})
}

// restrictFile closes a file to group and world. It does not refuse such a file, because volume managers open files
// to a group on every mount; but what was readable may have been read, so it says so.
func restrictFile(file *os.File, log *zap.Logger) error {
	if runtime.GOOS == "windows" {
		return nil // the mode says nothing there
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := file.Chmod(0o600); err != nil {
		return fmt.Errorf("%s can be read by others and that cannot be changed: %w", file.Name(), err)
	}
	log.Warn("a file was open to other users of this machine, its mode is 0600 now",
		zap.String("file", file.Name()), zap.Stringer("mode", info.Mode().Perm()))
	return nil
}

// syncDirs makes the names of new files survive a power cut, and that of a directory made for them.
func syncDirs(path string) error {
	if runtime.GOOS == "windows" {
		return nil // directories cannot be synced there
	}
	dir := filepath.Dir(path)
	for _, name := range []string{dir, filepath.Dir(dir)} {
		d, err := os.Open(name)
		if err != nil {
			if name != dir && errors.Is(err, fs.ErrPermission) {
				continue // a directory we may not read is none we made
			}
			return err
		}
		err = d.Sync()
		if err = errors.Join(err, d.Close()); err != nil {
			return err
		}
	}
	return nil
}
