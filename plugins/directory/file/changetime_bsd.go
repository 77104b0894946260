//go:build darwin || freebsd || netbsd

package file

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime returns the file's ctime, which the system sets at every change. Unlike the modification time, no program can
// choose it.
func changeTime(info fs.FileInfo) (t time.Time, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(stat.Ctimespec.Unix()), true
}
