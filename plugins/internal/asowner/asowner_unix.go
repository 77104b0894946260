//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package asowner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks bounds the symbolic links on the way to a file, as systems do.
const maxLinks = 40

// Act lets a process that runs as root act as the first other user who owns a folder or symbolic link on the path to a
// file, until back is called. That user can redirect every name below it, before or while root uses it, so root uses
// such names with that user's rights only. Act does nothing if all of the path is root's, or the process is not root's.
func Act(path string) (back func() error, err error) {
	stay := func() error { return nil }
	if os.Geteuid() != 0 {
		return stay, nil
	}
	owner, err := findOwner(path)
	if err != nil || owner == nil {
		return stay, err
	}
	groups, err := syscall.Getgroups()
	if err != nil {
		return stay, err
	}
	gid := os.Getegid()
	back = func() error {
		return errors.Join(syscall.Setreuid(-1, 0), syscall.Setregid(-1, gid), syscall.Setgroups(groups))
	}
	err = syscall.Setgroups([]int{int(owner.Gid)})
	if err == nil {
		err = syscall.Setregid(-1, int(owner.Gid))
	}
	if err == nil {
		err = syscall.Setreuid(-1, int(owner.Uid))
	}
	if err == nil {
		if _, err = os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return stay, errors.Join(fmt.Errorf("root acts as user %d here, who owns a folder on the way: %w", owner.Uid, err), back())
	}
	return back, nil
}

// findOwner returns the owner of the first folder or symbolic link on the path to a file that is not root's, or nil. It
// looks no further: up to there, only root can change the path.
func findOwner(path string) (*syscall.Stat_t, error) {
	at, rest := "/", strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0]) // "..", too: at is no link
		rest = rest[1:]
		info, err := os.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		link := info.Mode()&fs.ModeSymlink != 0
		switch {
		case !ok:
			return nil, fmt.Errorf("%s has no owner", next)
		case stat.Uid != 0 && (link || info.IsDir()):
			return stat, nil
		case !link:
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err == nil && links > maxLinks {
			err = fmt.Errorf("%s: too many symbolic links", path)
		}
		if err != nil {
			return nil, err
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return nil, nil
}
