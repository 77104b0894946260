package file

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime is when the file was changed last by the system's clock, whatever its modification time says.
func changeTime(info fs.FileInfo) (t time.Time, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(stat.Ctim.Unix()), true
}
