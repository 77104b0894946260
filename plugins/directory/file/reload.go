package file

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

const (
	// defaultMaxSize is the largest file without max_size: some 150,000 users.
	defaultMaxSize = 32 << 20
	// interval is the time between two looks at the file.
	interval = 500 * time.Millisecond
	// settling is how long after its last change a file is read again at each look,
	// because a write within the clock tick of a reading leaves the same time and
	// perhaps the same size. Two seconds is the coarsest clock, that of FAT.
	settling = 2 * time.Second
	// rereading is how often a file is read where the system does not say when it was changed:
	// a writer can set the modification time to any value.
	rereading = 10 * time.Second
)

type contents struct {
	data []byte
	info fs.FileInfo // of what was read, not of what is at the path since
}

// readContents returns the file's bytes, at most maxSize. Its errors name the file.
func readContents(path string, maxSize int64) (contents, error) {
	// Asked first, because opening a named pipe would wait for its writer.
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return contents{}, fmt.Errorf("%w: create it, with at least %s", err, `{"users":[]}`)
	} else if err != nil {
		return contents{}, err
	} else if !info.Mode().IsRegular() {
		return contents{}, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return contents{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return contents{}, err
	}
	tooLarge := fmt.Errorf("%s: larger than max_size, %s: raise max_size in the block of `users file`, or keep so many users in the store (`users store`, `caddy gatehouse user import`)", path, formatSize(maxSize))
	if info.Size() > maxSize { // not read at all, so that it costs no memory
		return contents{}, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return contents{}, err
	}
	if int64(len(data)) > maxSize { // it has grown meanwhile
		return contents{}, tooLarge
	}
	return contents{data, info}, nil
}

// formatSize writes a number of bytes as the Caddyfile takes it.
func formatSize(bytes int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if bytes%unit.bytes == 0 {
			return fmt.Sprintf("%d%s", bytes/unit.bytes, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// current is the content of a file as it is now, or as it was when it last had no
// mistake. Requests read users; everything else belongs to the one goroutine that looks at
// the file.
type current struct {
	path    string
	maxSize int64
	log     *zap.Logger

	users  atomic.Pointer[users]
	faulty atomic.Pointer[error] // why users is not what the file says; nil: it is

	info    fs.FileInfo
	settled bool
	readAt  time.Time
	sum     [sha256.Size]byte // of what was read last, good or bad
	mistake error             // in what was read last
	fault   string            // why the file could not be read when last looked at
}

func loadFile(path string, maxSize int64, log *zap.Logger) (*current, error) {
	c := &current{path: path, maxSize: maxSize, log: log}
	if _, err := c.readAgain(); err != nil {
		return nil, err
	}
	return c, nil
}

// readAgain reads the file unless it is known to be unchanged, and replaces the users if it
// has no mistake. Until then the old ones serve. changed says that the content is another than
// at the last reading.
func (c *current) readAgain() (changed bool, err error) {
	info, err := os.Stat(c.path)
	if err == nil && c.settled && c.isUnchanged(info, time.Now()) {
		return false, c.mistake
	}
	begun := time.Now()
	f, err := readContents(c.path, c.maxSize)
	if err != nil {
		c.settled = false // what ends it, such as a change of permissions, need not show in the file's time
		return false, err
	}
	before := c.sum
	c.info, c.sum, c.readAt = f.info, sha256.Sum256(f.data), begun
	c.settled = isSettled(f.info, begun)
	if c.sum == before {
		return false, c.mistake
	}
	var all *users
	if all, c.mistake = parseUsers(c.path, f.data); c.mistake == nil {
		c.users.Store(all)
	}
	return true, c.mistake
}

// checkFile takes over a changed file. It logs each mistake, and each reason why the file cannot
// be read, once.
func (c *current) checkFile() {
	changed, err := c.readAgain()
	if err == nil {
		c.faulty.Store(nil)
	} else {
		c.faulty.Store(&err)
	}
	switch {
	case err != nil && !errors.Is(err, c.mistake): // it was not read
		if c.fault != err.Error() {
			c.fault = err.Error()
			c.log.Error("the users' file cannot be read, the users read before stay", zap.Error(err))
		}
		return
	case changed && err != nil:
		c.log.Error("the users' file has a mistake, the users read before stay", zap.Error(err))
	case changed:
		c.warnOfHashes()
		c.log.Info("read the users' file again", zap.String("file", c.path), zap.Int("users", len(c.users.Load().byID)))
	}
	c.fault = ""
}

// isSettled reports whether a later change of what was read at a time leaves another time.
func isSettled(info fs.FileInfo, readAt time.Time) bool {
	changed, ok := changeTime(info)
	return readAt.Sub(info.ModTime()).Abs() > settling && (!ok || readAt.Sub(changed).Abs() > settling)
}

// isUnchanged reports whether the file is as it was when it was read. Size and modification time can be the same after
// a write, as `cp -p` shows; no program can set the ctime, where there is one.
func (c *current) isUnchanged(info fs.FileInfo, now time.Time) bool {
	if !os.SameFile(c.info, info) || info.Size() != c.info.Size() || !info.ModTime().Equal(c.info.ModTime()) {
		return false
	}
	before, known := changeTime(c.info)
	changed, _ := changeTime(info)
	return changed.Equal(before) && !isReadingDue(known, c.readAt, now)
}

// isReadingDue reports whether a file that looks unchanged is read nevertheless. known says that its change time is.
func isReadingDue(known bool, readAt, now time.Time) bool {
	return !known && now.Sub(readAt).Abs() >= rereading
}

// warnOfHashes logs what is wrong with the password hashes of the present users.
func (c *current) warnOfHashes() {
	all := c.users.Load()
	if all.unlike > 0 {
		c.log.Warn("some password hashes have other parameters than most: the time of a sign-in tells these users from unknown ones",
			zap.String("file", c.path), zap.Int("users", all.unlike))
	}
	if all.weak > 0 {
		c.log.Warn("some password hashes protect nothing once they are stolen: replace them by `caddy gatehouse user hash`",
			zap.String("file", c.path), zap.Int("users", all.weak))
	}
}
