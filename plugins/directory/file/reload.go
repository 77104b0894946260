package file

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

const (
	// maxFile bounds the memory of a reading: some 50 000 users.
	maxFile = 32 << 20
	// interval is the least time between two looks at the file.
	interval = time.Second
	// settling is how long after its last change a file is read again at each look,
	// because a write within the clock tick of a reading leaves the same time and
	// perhaps the same size. Two seconds is the coarsest clock, that of FAT.
	settling = 2 * time.Second
)

type contents struct {
	data []byte
	info fs.FileInfo // of what was read, not of what is at the path since
}

// readContents returns the file's bytes. Its errors name the file.
func readContents(path string) (contents, error) {
	// Asked first, because opening a named pipe would wait for its writer.
	if info, err := os.Stat(path); err != nil {
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
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return contents{}, err
	}
	if len(data) > maxFile {
		return contents{}, fmt.Errorf("%s: larger than %d MiB", path, maxFile>>20)
	}
	return contents{data, info}, nil
}

// current is the content of a file as it is now, or as it was when it last had no
// mistake.
type current struct {
	path  string
	begun time.Time // what times are measured from: the wall clock may be set back
	now   func() time.Time
	log   func() *zap.Logger

	good atomic.Pointer[users]
	next atomic.Int64 // no look at the file before this time since begun, in nanoseconds

	mu      sync.Mutex // held by the one request that looks
	info    fs.FileInfo
	settled bool
	sum     [sha256.Size]byte // of what was read last, good or bad
	fault   string            // why the file could not be read when last looked at
}

func loadFile(path string, now func() time.Time, log func() *zap.Logger) (*current, error) {
	c := &current{path: path, begun: now(), now: now, log: log}
	f, err := readContents(path)
	if err != nil {
		return nil, err
	}
	all, err := parseUsers(path, f.data)
	if err != nil {
		return nil, err
	}
	c.rememberContents(f)
	c.next.Store(int64(interval))
	c.replaceUsers(all)
	return c, nil
}

// currentUsers returns what the file says. Of many requests at once one looks at the file,
// and the others go on with what there is.
func (c *current) currentUsers() *users {
	if now := int64(c.now().Sub(c.begun)); now >= c.next.Load() && c.mu.TryLock() {
		if now >= c.next.Load() {
			c.checkFile()
			c.next.Store(now + int64(interval))
		}
		c.mu.Unlock()
	}
	return c.good.Load()
}

func (c *current) checkFile() {
	info, err := os.Stat(c.path)
	if err == nil && c.settled && c.isUnchanged(info) {
		return
	}
	f, err := readContents(c.path)
	if err != nil {
		c.recordFault(err)
		return
	}
	before := c.sum
	c.rememberContents(f)
	c.fault = ""
	if c.sum == before {
		return
	}
	all, err := parseUsers(c.path, f.data)
	if err != nil {
		c.log().Error("the users' file has a mistake, the users read before stay", zap.Error(err))
		return
	}
	c.replaceUsers(all)
	c.log().Info("read the users' file again", zap.String("file", c.path), zap.Int("users", len(all.byID)))
}

// recordFault logs a fault once and has the next look try again: what ends it, such as a
// change of permissions, need not show in the file's time.
func (c *current) recordFault(err error) {
	c.settled = false
	if c.fault != err.Error() {
		c.fault = err.Error()
		c.log().Error("the users' file cannot be read, the users read before stay", zap.Error(err))
	}
}

func (c *current) rememberContents(f contents) {
	c.info, c.sum = f.info, sha256.Sum256(f.data)
	c.settled = c.now().Sub(f.info.ModTime()).Abs() > settling
}

func (c *current) isUnchanged(info fs.FileInfo) bool {
	return os.SameFile(c.info, info) && info.Size() == c.info.Size() && info.ModTime().Equal(c.info.ModTime())
}

func (c *current) replaceUsers(all *users) {
	c.good.Store(all)
	if all.unlike > 0 {
		c.log().Warn("some password hashes have other parameters than most: the time of a sign-in tells these users from unknown ones",
			zap.String("file", c.path), zap.Int("users", all.unlike))
	}
	if all.weak > 0 {
		c.log().Warn("some password hashes protect nothing once they are stolen: replace them by `caddy gatehouse user hash`",
			zap.String("file", c.path), zap.Int("users", all.weak))
	}
}
